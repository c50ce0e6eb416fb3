//! Writes the classic (non-flexible) layouts and the sections of an envelope.

use std::time::Duration;

use bytes::Bytes;

/// Bytes in the making.
#[derive(Debug, Default)]
pub(super) struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    pub(super) fn reserve(&mut self, bytes: usize) {
        self.bytes.reserve(bytes);
    }

    pub(super) fn finish(self) -> Bytes {
        self.bytes.into()
    }

    pub(super) fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    pub(super) fn i16(&mut self, value: i16) {
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    pub(super) fn i32(&mut self, value: i32) {
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    pub(super) fn u64(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }
}

/// Kafka's classic layout: string = int16 length + UTF-8, bytes = int32 length, array = int32 count.
impl Writer {
    /// Text of more than 32,767 bytes has no place in the layout and is cut; names of topics, racks and members that
    /// Kafka knows are far shorter.
    pub(super) fn string(&mut self, text: &str) {
        let text = cut(text, i16::MAX as usize);
        self.i16(i16::try_from(text.len()).unwrap_or(i16::MAX));
        self.raw(text.as_bytes());
    }

    pub(super) fn nullable_string(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.string(text),
            None => self.i16(-1),
        }
    }

    pub(super) fn nullable_bytes(&mut self, bytes: Option<&[u8]>) {
        let Some(bytes) = bytes else { return self.i32(-1) };
        self.count(bytes.len());
        self.raw(bytes);
    }

    pub(super) fn count(&mut self, count: usize) {
        self.i32(i32::try_from(count).unwrap_or(i32::MAX));
    }
}

/// Where a count stands that is known only behind what it counts.
#[derive(Debug)]
pub(super) struct Gap(usize);

impl Writer {
    /// Leaves room for a count.
    pub(super) fn gap(&mut self) -> Gap {
        let gap = Gap(self.bytes.len());
        self.i32(0);
        gap
    }

    pub(super) fn fill(&mut self, gap: Gap, count: usize) {
        let count = i32::try_from(count).unwrap_or(i32::MAX).to_be_bytes();
        if let Some(bytes) = self.bytes.get_mut(gap.0..gap.0 + count.len()) {
            bytes.copy_from_slice(&count);
        }
    }
}

/// Kafka's compact layout (KIP-482), as it is used inside an envelope.
impl Writer {
    /// Seven bits a byte, the lowest first.
    pub(super) fn uvarint(&mut self, mut value: u32) {
        while value >= 0x80 {
            self.u8((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.u8(value as u8);
    }

    /// A count or length as the compact layout has it: one more, because 0 is null there.
    pub(super) fn compact_count(&mut self, count: usize) {
        self.uvarint(u32::try_from(count).unwrap_or(u32::MAX).saturating_add(1));
    }

    pub(super) fn compact_string(&mut self, text: &str) {
        self.compact_count(text.len());
        self.raw(text.as_bytes());
    }

    /// Milliseconds; more than 49 days are 49 days.
    pub(super) fn millis(&mut self, duration: Duration) {
        self.uvarint(u32::try_from(duration.as_millis()).unwrap_or(u32::MAX));
    }
}

/// The longest beginning of `text` that has at most `limit` bytes.
fn cut(text: &str, limit: usize) -> &str {
    let mut end = text.len().min(limit);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_the_layout_cannot_hold_is_cut_between_characters() {
        let mut writer = Writer::default();
        writer.string(&"é".repeat(20_000));
        let bytes = writer.finish();
        assert_eq!(bytes[..2], 32_766_u16.to_be_bytes());
        assert_eq!(bytes.len(), 2 + 32_766);
    }

    #[test]
    fn a_varint_has_seven_bits_a_byte_the_lowest_first() {
        for (value, expected) in [
            (0, &[0][..]),
            (127, &[0x7f]),
            (128, &[0x80, 1]),
            (u32::MAX, &[255, 255, 255, 255, 15]),
        ] {
            let mut writer = Writer::default();
            writer.uvarint(value);
            assert_eq!(writer.finish(), expected, "{value}");
        }
    }
}
