// Ends its process with status 0 as soon as it is loaded.
process.exit(0);
