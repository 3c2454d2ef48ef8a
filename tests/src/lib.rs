//! The test bench: builds the executables once, gives each test its own home.
