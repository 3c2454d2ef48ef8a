//! Arguments as given, decoded to typed operations by the contract table.
