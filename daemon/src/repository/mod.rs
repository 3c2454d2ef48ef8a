//! Which root and which goal file, asked of Git and the file system.
