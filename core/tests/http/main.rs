//! Servers over Streamable HTTP, HTTP+SSE and websockets: what answers look like, what goes wrong
//! on the way, and what is left at the end.

mod answers;
mod auth;
mod bounds;
mod busy;
mod cookies;
mod credentials;
mod events;
mod failures;
mod fetched;
mod keepalive;
mod modern;
mod probes;
mod redirects;
mod refused;
mod script;
mod sessions;
mod socket;
mod sockets;
mod streams;
mod trap;
mod unasked;
mod unix;
