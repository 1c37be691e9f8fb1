"""The stages, one module a verb of the design; they meet through files and never call one another."""
