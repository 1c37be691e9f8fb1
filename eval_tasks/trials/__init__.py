"""The parts of a trial: what an arm is given, its workspace, its limits and the login lent to its calls."""
