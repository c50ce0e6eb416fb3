//! What rdkafka does not offer of a message, read through librdkafka: all `unsafe` of this crate.

use std::ffi::CStr;
use std::{ptr, slice};

use bytes::Bytes;
use rdkafka::message::BorrowedMessage;
use rdkafka_sys::{
    rd_kafka_header_get_all, rd_kafka_message_headers, rd_kafka_message_leader_epoch,
    rd_kafka_resp_err_t,
};

use super::record::Header;

/// The epoch of the leader that a message was read from (KIP-320).
#[expect(unsafe_code, reason = "rdkafka 0.39 does not offer it")]
pub(super) fn leader_epoch(message: &BorrowedMessage<'_>) -> Option<i32> {
    // SAFETY: the pointer is the message's own, and valid while the message is borrowed.
    let epoch = unsafe { rd_kafka_message_leader_epoch(message.ptr()) };
    (epoch >= 0).then_some(epoch)
}

/// The headers of a message. rdkafka's own reader panics at a name that is not UTF-8, and any producer may write one.
#[expect(unsafe_code, reason = "rdkafka 0.39 panics at names that are not UTF-8")]
pub(super) fn headers(message: &BorrowedMessage<'_>) -> Vec<Header> {
    let mut list = ptr::null_mut();
    // SAFETY: the pointer is the message's own; librdkafka writes a list that lives as long as the message.
    let found = unsafe { rd_kafka_message_headers(message.ptr(), &raw mut list) };
    if found != rd_kafka_resp_err_t::RD_KAFKA_RESP_ERR_NO_ERROR || list.is_null() {
        return Vec::new();
    }
    let header = |index| {
        let (mut name, mut value, mut length) = (ptr::null(), ptr::null(), 0);
        // SAFETY: the list is alive, since the message is borrowed; librdkafka checks the index.
        let found = unsafe {
            rd_kafka_header_get_all(list, index, &raw mut name, &raw mut value, &raw mut length)
        };
        if found != rd_kafka_resp_err_t::RD_KAFKA_RESP_ERR_NO_ERROR {
            return None;
        }
        // SAFETY: librdkafka ends names with a nul, and keeps `length` bytes at `value` unless it is null.
        let (name, value) = unsafe {
            let value = (!value.is_null())
                .then(|| Bytes::copy_from_slice(slice::from_raw_parts(value.cast(), length)));
            (CStr::from_ptr(name), value)
        };
        Some(Header { name: name.to_string_lossy().into_owned(), value })
    };
    (0..).map_while(header).collect()
}
