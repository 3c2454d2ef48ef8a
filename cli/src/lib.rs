//! The command line: arguments, one file per command, human rendering, exit codes.
