//! The core from outside: one program, so that it is linked once and all of it runs side by side.
//!
//! One module: `cargo test -p sawtooth-core --test it every_cc::`.

mod columns;
mod compare;
mod random;
mod script;

mod arrivals;
mod backlogs;
mod conservation;
mod direction;
mod dumbbell;
mod ecn;
mod endpoint;
mod every_cc;
mod every_queue;
mod examples;
mod exchanges;
mod fack_rules;
mod fair_queues;
mod fluid;
mod golden;
mod golden_micro;
mod hosts;
mod keys;
mod layering;
mod limits;
mod links;
mod linux_parts;
mod linux_stack;
mod media;
mod order_of_texts;
mod packets;
mod partial_packets;
mod rack_rules;
mod receiver_rules;
mod records;
mod recovery_rules;
mod sender_rules;
mod shift;
mod shortcuts;
mod spec;
mod taps;
mod tcp_rules;
mod theory;
mod udp;
mod written_over_time;
