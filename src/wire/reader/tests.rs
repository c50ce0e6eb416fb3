use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn reader(bytes: &[u8]) -> Reader {
    Reader::new(Bytes::copy_from_slice(bytes))
}

#[test]
fn numbers_are_big_endian() {
    let mut reader = reader(&[
        0xff, 0x01, 0x02, 0, 0, 1, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe, 2, 7,
    ]);
    assert_eq!(reader.i8(), Ok(-1));
    assert_eq!(reader.i16(), Ok(0x0102));
    assert_eq!(reader.i32(), Ok(256));
    assert_eq!(reader.i64(), Ok(-2));
    assert_eq!(reader.bool(), Ok(true));
    assert_eq!(reader.u8(), Ok(7));
    assert_eq!(reader.u8(), Err(ReadError::Short));
}

#[test]
fn a_varint_has_the_lowest_bits_first_and_no_more_than_32() {
    for (bytes, expected) in [
        (&[0x00][..], Ok(0)),
        (&[0x7f], Ok(127)),
        (&[0x80, 0x01], Ok(128)),
        (&[0xff, 0xff, 0xff, 0xff, 0x0f], Ok(u32::MAX)),
        (&[0xff, 0xff, 0xff, 0xff, 0x1f], Err(ReadError::Varint)),
        (&[0x80, 0x80, 0x80, 0x80, 0x80, 0x01], Err(ReadError::Varint)),
        (&[0x80], Err(ReadError::Short)),
        (&[], Err(ReadError::Short)),
    ] {
        assert_eq!(reader(bytes).uvarint(), expected, "{bytes:?}");
    }
}

#[test]
fn text_is_read_in_both_layouts_and_null_is_not_empty() {
    for (layout, bytes, expected) in [
        (Layout::Classic, &[0, 2, b'h', b'i'][..], Ok(Some("hi"))),
        (Layout::Classic, &[0, 0], Ok(Some(""))),
        (Layout::Classic, &[0xff, 0xff], Ok(None)),
        (Layout::Classic, &[0xff, 0xfe], Err(ReadError::Count(-2))),
        (Layout::Classic, &[0, 3, b'h', b'i'], Err(ReadError::Short)),
        (Layout::Classic, &[0, 1, 0xff], Err(ReadError::Text)),
        (Layout::Compact, &[3, b'h', b'i'], Ok(Some("hi"))),
        (Layout::Compact, &[1], Ok(Some(""))),
        (Layout::Compact, &[0], Ok(None)),
        (Layout::Compact, &[4, b'h', b'i'], Err(ReadError::Short)),
    ] {
        let expected = expected.map(|text| text.map(str::to_owned));
        assert_eq!(
            reader(bytes).nullable_string::<String>(layout),
            expected,
            "{layout:?} {bytes:?}"
        );
    }
}

#[test]
fn null_is_an_error_only_where_there_must_be_a_value() {
    assert_eq!(reader(&[0]).string::<String>(Layout::Compact), Err(ReadError::Null));
    assert_eq!(reader(&[0]).string_or_empty::<String>(Layout::Compact), Ok(String::new()));
    assert_eq!(reader(&[0]).bytes(Layout::Compact), Err(ReadError::Null));
    assert_eq!(reader(&[0]).array(Layout::Compact, 1, Reader::u8), Err(ReadError::Null));
    assert_eq!(reader(&[0]).nullable_array(Layout::Compact, 1, Reader::u8), Ok(None));
}

#[test]
fn bytes_are_slices_of_what_is_read() {
    let frame = Bytes::from_static(&[0, 0, 0, 2, 8, 9, 1]);
    let bytes = Reader::new(frame.clone()).bytes(Layout::Classic).unwrap();
    assert_eq!(bytes, frame.slice(4..6));
    assert_eq!(bytes.as_ptr(), frame.slice(4..).as_ptr());
}

#[test]
fn a_count_that_the_bytes_cannot_hold_is_an_error_before_anything_is_reserved() {
    let gigabytes = [0x7f, 0xff, 0xff, 0xff];
    assert_eq!(
        reader(&gigabytes).array(Layout::Classic, 8, Reader::i64),
        Err(ReadError::Count(0x7fff_ffff))
    );
    assert_eq!(reader(&[0, 0, 0, 2, 0, 0, 0]).count(Layout::Classic, 2), Err(ReadError::Count(2)));
    assert_eq!(reader(&[0, 0, 0, 2, 0, 0, 0, 0]).count(Layout::Classic, 2), Ok(Some(2)));
    assert_eq!(reader(&[0, 0, 0, 9]).count(Layout::Classic, 0), Err(ReadError::Count(9)));
}

#[test]
fn tagged_fields_are_passed_over_in_the_compact_layout_alone() {
    let mut compact = reader(&[2, 0, 1, 0xaa, 5, 0, 7]);
    assert_eq!(compact.skip_tags(Layout::Compact), Ok(()));
    assert_eq!(compact.rest(), Bytes::from_static(&[7]));
    let mut classic = reader(&[7]);
    assert_eq!(classic.skip_tags(Layout::Classic), Ok(()));
    assert_eq!(classic.remaining(), 1);
    let endless = [0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0];
    assert_eq!(reader(&endless).skip_tags(Layout::Compact), Err(ReadError::Short));
}

/// One call of the reader; what it says does not matter, only that it says it.
fn call(reader: &mut Reader, which: u8) -> bool {
    let layout = if which & 1 == 0 { Layout::Classic } else { Layout::Compact };
    match which >> 1 {
        0 => reader.i8().is_ok(),
        1 => reader.i16().is_ok(),
        2 => reader.i32().is_ok(),
        3 => reader.i64().is_ok(),
        4 => reader.uvarint().is_ok(),
        5 => reader.nullable_string::<String>(layout).is_ok(),
        6 => reader.skip_string(layout).is_ok(),
        7 => reader.nullable_bytes(layout).is_ok(),
        8 => reader.nullable_array(layout, 2, Reader::i16).is_ok(),
        9 => reader.skip_array(layout, 4).is_ok(),
        10 => reader.skip_tags(layout).is_ok(),
        _ => reader.bool().is_ok(),
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic_or_go_backwards(bytes in vec(any::<u8>(), 0..200), calls in vec(0u8..24, 0..50)) {
        let mut reader = reader(&bytes);
        for which in calls {
            let before = reader.remaining();
            let read = call(&mut reader, which);
            prop_assert!(reader.remaining() <= before);
            if !read {
                break;
            }
        }
    }

    #[test]
    fn an_array_never_reserves_more_than_its_bytes_could_hold(
        bytes in vec(any::<u8>(), 0..200),
        compact in any::<bool>(),
    ) {
        let layout = if compact { Layout::Compact } else { Layout::Classic };
        if let Ok(Some(count)) = reader(&bytes).count(layout, 4) {
            prop_assert!(count * 4 <= bytes.len());
        }
    }
}
