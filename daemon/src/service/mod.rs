//! An operation and a store in, an envelope out.
