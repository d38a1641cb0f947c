//! Tests from outside, one program.

mod analysis;
mod damage;
mod files;
mod read;
