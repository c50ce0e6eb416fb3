//! Pure. Bytes to values and back: requests, responses, versions, error codes.
//!
//! Requests are encoded by the `kafka-protocol` crate. Responses, and whatever other members wrote, are read by our
//! own bounds-checked [`Reader`]: the crate's decoder reserves what a count says before it looks at a single element.

pub(crate) mod api;
pub(crate) mod client_host;
mod error_code;
mod frame;
mod reader;
mod recovery;
mod request;
mod versions;

pub use error_code::ErrorCode;
pub use frame::FrameError;
pub(crate) use frame::{correlation_id, next_frame, read_response, request_frame};
pub(crate) use reader::{Layout, ReadError, Reader};
pub(crate) use recovery::{Recovery, recovery};
pub use request::ApiKey;
pub(crate) use request::{EncodeError, Request};
pub(crate) use versions::Versions;
pub use versions::{NoInstanceId, Unsupported, VersionRange};
