//! What goes around a request and an answer: lengths and headers.

use bytes::{Buf, BufMut, Bytes, BytesMut};

use super::{ApiKey, EncodeError, Layout, ReadError, Reader, Request};

/// What stands where a frame should: the stream has no next frame, and the connection no use any more.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// A frame that is larger than we take.
    #[error("a frame of {length} bytes; the limit is {limit}")]
    TooLarge {
        /// What the peer announced.
        length: u32,
        /// What we take.
        limit: usize,
    },
    /// A length below zero.
    #[error("a frame with the negative length {0}")]
    Negative(i32),
    /// A TLS record: plain text was spoken to a TLS listener.
    #[error(
        "the port speaks TLS, and was spoken to without: look at security.protocol (SSL or SASL_SSL there?)"
    )]
    Tls,
    /// An HTTP answer: the port is not Kafka's.
    #[error("the port speaks HTTP, not Kafka's protocol")]
    Http,
}

/// No limit goes beyond this: from here on a length could be the beginning of a TLS record or of an HTTP answer.
pub(crate) const LARGEST_LIMIT: usize = 0x1500_0000 - 1;

/// Takes the next frame, without its length, out of what has been received; None while it is not complete. Nothing is
/// reserved for a frame that has only been announced.
pub(crate) fn next_frame(
    received: &mut BytesMut,
    limit: usize,
) -> Result<Option<Bytes>, FrameError> {
    let Some(start) = received.first_chunk::<4>() else { return Ok(None) };
    let length = frame_length(*start, limit.min(LARGEST_LIMIT))?;
    if received.len() - 4 < length {
        return Ok(None);
    }
    received.advance(4);
    Ok(Some(received.split_to(length).freeze()))
}

/// What the first four bytes announce.
fn frame_length(start: [u8; 4], limit: usize) -> Result<usize, FrameError> {
    let length = i32::from_be_bytes(start);
    let Ok(unsigned) = u32::try_from(length) else { return Err(FrameError::Negative(length)) };
    let announced = usize::try_from(unsigned).unwrap_or(usize::MAX);
    match start {
        _ if announced <= limit => Ok(announced),
        // An alert or a handshake record of TLS 1.0 to 1.3.
        [0x15 | 0x16, 0x03, 0..=4, _] => Err(FrameError::Tls),
        [b'H', b'T', b'T', b'P'] => Err(FrameError::Http),
        _ => Err(FrameError::TooLarge { length: unsigned, limit }),
    }
}

/// A whole request as it goes out: length, header, body.
pub(crate) fn request_frame<R: Request>(
    request: &R,
    version: i16,
    correlation_id: i32,
    client_id: &str,
) -> Result<Bytes, EncodeError> {
    let mut frame = BytesMut::with_capacity(128);
    frame.put_i32(0);
    put_header(R::API, version, correlation_id, client_id, &mut frame)?;
    request.encode(version, &mut frame)?;
    let length = i32::try_from(frame.len() - 4)
        .map_err(|_| EncodeError::new(R::API, version, "a request of more than 2 GiB"))?;
    frame[..4].copy_from_slice(&length.to_be_bytes());
    Ok(frame.freeze())
}

/// Header version 1, and 2 for flexible requests, in which the client id stays as it was and tagged fields follow.
fn put_header(
    api: ApiKey,
    version: i16,
    correlation_id: i32,
    client_id: &str,
    frame: &mut BytesMut,
) -> Result<(), EncodeError> {
    let length = i16::try_from(client_id.len())
        .map_err(|_| EncodeError::new(api, version, "a client id of more than 32767 bytes"))?;
    frame.put_i16(api.number());
    frame.put_i16(version);
    frame.put_i32(correlation_id);
    frame.put_i16(length);
    frame.put_slice(client_id.as_bytes());
    if api.layout(version) == Layout::Compact {
        frame.put_u8(0);
    }
    Ok(())
}

/// Which request a frame answers: the first thing in it. What is left goes to [`read_response`].
pub(crate) fn correlation_id(frame: Bytes) -> Result<(i32, Reader), ReadError> {
    let mut rest = Reader::new(frame);
    Ok((rest.i32()?, rest))
}

/// The answer to a request of `version`. What follows it is ignored: librdkafka's mock writes a byte too many.
pub(crate) fn read_response<R: Request>(
    version: i16,
    mut rest: Reader,
) -> Result<R::Response, ReadError> {
    rest.skip_tags(response_header(R::API, version))?;
    R::read(version, &mut rest)
}

/// Header version 0, and 1 for flexible answers; but always 0 where the client does not know yet what is spoken.
fn response_header(api: ApiKey, version: i16) -> Layout {
    match api {
        ApiKey::ApiVersions => Layout::Classic,
        api => api.layout(version),
    }
}

#[cfg(test)]
mod tests {
    use kafka_protocol::messages::{ApiKey as Theirs, RequestHeader};
    use kafka_protocol::protocol::Decodable;
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::types::{Generation, MemberId};
    use crate::wire::api::{ApiVersionsRequest, HeartbeatRequest};

    const LIMIT: usize = 1 << 20;

    fn received(bytes: &[u8]) -> BytesMut {
        BytesMut::from(bytes)
    }

    #[test]
    fn frames_come_out_one_by_one_as_they_get_complete() {
        let mut received = received(&[0, 0, 0, 2, 8, 9, 0, 0, 0, 0, 0, 0]);
        assert_eq!(next_frame(&mut received, LIMIT), Ok(Some(Bytes::from_static(&[8, 9]))));
        assert_eq!(next_frame(&mut received, LIMIT), Ok(Some(Bytes::new())));
        assert_eq!(next_frame(&mut received, LIMIT), Ok(None));
        received.extend_from_slice(&[0, 1]);
        assert_eq!(next_frame(&mut received, LIMIT), Ok(None));
        received.extend_from_slice(&[7]);
        assert_eq!(next_frame(&mut received, LIMIT), Ok(Some(Bytes::from_static(&[7]))));
    }

    #[test]
    fn what_is_no_length_is_named() {
        for (start, expected) in [
            (b"HTTP/1.1 400 Bad Request".as_slice(), FrameError::Http),
            (b"\x15\x03\x03\x00\x02\x02\x46 alert record...", FrameError::Tls),
            (b"\x16\x03\x01\x02\x00\x01\x00 a handshake.....", FrameError::Tls),
            (b"\xff\xff\xff\xfe negative length.", FrameError::Negative(-2)),
            (
                b"\x00\x10\x00\x01 over the limit...",
                FrameError::TooLarge { length: 0x10_0001, limit: LIMIT },
            ),
        ] {
            assert_eq!(next_frame(&mut received(start), LIMIT), Err(expected));
        }
    }

    #[test]
    fn no_limit_hides_a_tls_record() {
        assert_eq!(next_frame(&mut received(&[0x15, 3, 3, 0]), usize::MAX), Err(FrameError::Tls));
    }

    #[test]
    fn a_request_header_is_what_the_oracle_reads() {
        let heartbeat = HeartbeatRequest {
            group_id: "group".to_owned(),
            generation: Generation(3),
            member_id: MemberId::new("member"),
            group_instance_id: None,
        };
        for version in [0, 4] {
            let mut frame = request_frame(&heartbeat, version, 77, "client").unwrap();
            assert_eq!(frame.get_i32(), i32::try_from(frame.len()).unwrap());
            let header = RequestHeader::decode(
                &mut frame,
                Theirs::Heartbeat.request_header_version(version),
            )
            .unwrap();
            assert_eq!((header.request_api_key, header.request_api_version), (12, version));
            assert_eq!((header.correlation_id, header.client_id.as_deref()), (77, Some("client")));
        }
    }

    #[test]
    fn the_answer_to_api_versions_has_the_oldest_header_whatever_was_asked() {
        let answer =
            Bytes::from_static(&[0, 0, 0, 77, 0, 0, 2, 0, 18, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0]);
        let (id, rest) = correlation_id(answer).unwrap();
        let answer = read_response::<ApiVersionsRequest>(4, rest).unwrap();
        assert_eq!((id, answer.apis.len()), (77, 1));
    }

    #[test]
    fn a_client_id_that_no_header_can_carry_is_an_error() {
        let error = request_frame(&ApiVersionsRequest, 4, 1, &"x".repeat(40_000)).unwrap_err();
        assert_eq!(error.why, "a client id of more than 32767 bytes");
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic_or_take_more_than_there_is(bytes in vec(any::<u8>(), 0..64), limit in 0usize..100) {
            let mut received = received(&bytes);
            while let Ok(Some(frame)) = next_frame(&mut received, limit) {
                prop_assert!(frame.len() <= limit);
            }
            prop_assert!(received.len() <= bytes.len());
        }
    }
}
