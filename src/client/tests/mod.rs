mod client;
mod connection;
#[cfg(feature = "consumer")]
mod mock;
pub(super) mod script;
#[cfg(feature = "sasl")]
mod security;
#[cfg(feature = "sasl")]
mod session;
