//! Many flows of TCP as one fluid: what a class of them sends, without its packets.
//!
//! **Model.** The flows of a class have one path, one round-trip time and one AIMD law, and send without end. Their windows follow the equations of Misra, Gong and Towsley
//! ("Fluid-based analysis of a network of AQM routers supporting TCP flows with an application to RED", SIGCOMM 2000), with the phases that Liu, Lo Presti, Misra, Towsley and Gu
//! ("Fluid models and solutions for large-scale IP networks", SIGMETRICS 2003) solve for networks: in congestion avoidance
//!
//! ```text
//! dW/dt = a/R(t) - (1 - beta) W(t) lambda(t - R)
//! ```
//!
//! with `a` segments per round trip, the decrease to `beta` and `lambda` the losses that a flow hears of per second. Here the equations are advanced in steps, and the terms are taken
//! from what comes back: a window grows by what is acknowledged, and falls by what is reported lost, one round trip after it was sent. What is outstanding never exceeds the
//! windows (packets are conserved): so the rate is W/R without anybody computing it. A network that carries packets beside the fluid is that of Gu, Liu and Towsley ("On integrating fluid models with packet simulation",
//! INFOCOM 2004); the buffer that both share is the port's ([`crate::net::Port`]).
//!
//! **Parts.** [`AimdWindows`] are the flows' windows; a [`Pipe`] is a way on which fluid travels, with holes where it was lost; a [`FluidClass`] is the senders, between what comes back and what they send.
//!
//! Nothing here is random, and a step costs the same however many flows there are.

mod class;
mod law;
mod pipe;
mod windows;

pub use class::{ClassTotals, FluidClass};
pub use law::FluidLaw;
pub use pipe::{Flowed, Parcel, Pipe};
