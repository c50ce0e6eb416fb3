//! Reads bytes that somebody else wrote, and never believes a count.

use bytes::{Buf, Bytes};

/// A position in bytes that somebody else wrote.
///
/// Every read either moves past a whole field or is an error; after an error the position means nothing. No read
/// panics, and none allocates more than a constant times the bytes that are left.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    bytes: Bytes,
}

/// How lengths and counts are written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Layout {
    /// Two or four bytes, -1 for null, and no tagged fields.
    Classic,
    /// A varint of one more than the length, 0 for null, and tagged fields at the end of each struct (KIP-482).
    Compact,
}

/// Bytes that are not what they should be.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum ReadError {
    /// Fewer bytes than the next field has.
    #[error("the bytes end in the middle of a field")]
    Short,
    /// A length or count that is negative where it may not be, or larger than what is left can hold.
    #[error("a length or count of {0} does not fit the bytes that are left")]
    Count(i64),
    /// A varint that goes on after its last possible byte.
    #[error("a varint of more than 32 bits")]
    Varint,
    /// Text that is not UTF-8.
    #[error("text that is not UTF-8")]
    Text,
    /// A number that no layout we know has.
    #[error("a version of {0}")]
    Version(i16),
    /// A port that no host has.
    #[error("a port of {0}")]
    Port(i32),
    /// Null where there must be something.
    #[error("null where there must be a value")]
    Null,
}

impl Reader {
    /// Starts at the first byte.
    pub(crate) fn new(bytes: Bytes) -> Self {
        Self { bytes }
    }

    /// How many bytes are left.
    pub(crate) fn remaining(&self) -> usize {
        self.bytes.len()
    }

    /// Whether no byte is left.
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// What is left, left as it is.
    pub(crate) fn peek(&self) -> &[u8] {
        &self.bytes
    }

    /// Everything that is left.
    pub(crate) fn rest(&mut self) -> Bytes {
        std::mem::take(&mut self.bytes)
    }

    /// The next `length` bytes, as a slice of what is being read.
    pub(crate) fn take(&mut self, length: usize) -> Result<Bytes, ReadError> {
        if length > self.bytes.len() {
            return Err(ReadError::Short);
        }
        Ok(self.bytes.split_to(length))
    }

    /// Moves past the next `length` bytes.
    pub(crate) fn skip(&mut self, length: usize) -> Result<(), ReadError> {
        if length > self.bytes.len() {
            return Err(ReadError::Short);
        }
        self.bytes.advance(length);
        Ok(())
    }
}

/// Numbers.
impl Reader {
    #[cfg(test)]
    pub(crate) fn i8(&mut self) -> Result<i8, ReadError> {
        self.bytes.try_get_i8().map_err(|_| ReadError::Short)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, ReadError> {
        self.bytes.try_get_u8().map_err(|_| ReadError::Short)
    }

    pub(crate) fn i16(&mut self) -> Result<i16, ReadError> {
        self.bytes.try_get_i16().map_err(|_| ReadError::Short)
    }

    pub(crate) fn i32(&mut self) -> Result<i32, ReadError> {
        self.bytes.try_get_i32().map_err(|_| ReadError::Short)
    }

    pub(crate) fn i64(&mut self) -> Result<i64, ReadError> {
        self.bytes.try_get_i64().map_err(|_| ReadError::Short)
    }

    /// One byte; anything but 0 is true.
    pub(crate) fn bool(&mut self) -> Result<bool, ReadError> {
        Ok(self.u8()? != 0)
    }

    /// An unsigned varint of at most 32 bits: seven bits a byte, the lowest first.
    pub(crate) fn uvarint(&mut self) -> Result<u32, ReadError> {
        let mut value = 0;
        for shift in [0, 7, 14, 21, 28] {
            let byte = self.u8()?;
            if shift == 28 && byte > 0x0f {
                break;
            }
            value |= u32::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(ReadError::Varint)
    }
}

/// Text and bytes.
impl Reader {
    pub(crate) fn string<T: for<'a> From<&'a str>>(
        &mut self,
        layout: Layout,
    ) -> Result<T, ReadError> {
        self.nullable_string(layout)?.ok_or(ReadError::Null)
    }

    pub(crate) fn nullable_string<T: for<'a> From<&'a str>>(
        &mut self,
        layout: Layout,
    ) -> Result<Option<T>, ReadError> {
        let Some(length) = self.length(layout, Width::Two)? else { return Ok(None) };
        let bytes = self.take(length)?;
        let text = std::str::from_utf8(&bytes).map_err(|_| ReadError::Text)?;
        Ok(Some(T::from(text)))
    }

    /// How many bytes the text has that follows.
    pub(crate) fn string_length(&mut self, layout: Layout) -> Result<usize, ReadError> {
        self.length(layout, Width::Two)?.ok_or(ReadError::Null)
    }

    /// Text where some brokers write null for "none".
    pub(crate) fn string_or_empty<T: for<'a> From<&'a str>>(
        &mut self,
        layout: Layout,
    ) -> Result<T, ReadError> {
        Ok(self.nullable_string(layout)?.unwrap_or_else(|| T::from("")))
    }

    /// Moves past text without looking at it.
    pub(crate) fn skip_string(&mut self, layout: Layout) -> Result<(), ReadError> {
        let length = self.length(layout, Width::Two)?;
        self.skip(length.unwrap_or(0))
    }

    /// Bytes, as a slice of what is being read.
    #[cfg(test)]
    pub(crate) fn bytes(&mut self, layout: Layout) -> Result<Bytes, ReadError> {
        self.nullable_bytes(layout)?.ok_or(ReadError::Null)
    }

    /// Bytes or null, as a slice of what is being read.
    pub(crate) fn nullable_bytes(&mut self, layout: Layout) -> Result<Option<Bytes>, ReadError> {
        match self.length(layout, Width::Four)? {
            Some(length) => self.take(length).map(Some),
            None => Ok(None),
        }
    }
}

/// Arrays, and what ends a struct.
impl Reader {
    /// How many elements follow, of which each takes at least `smallest` bytes; None for a null array. A count that
    /// the bytes left cannot hold is an error, so a caller may reserve what is returned.
    pub(crate) fn count(
        &mut self,
        layout: Layout,
        smallest: usize,
    ) -> Result<Option<usize>, ReadError> {
        let Some(count) = self.length(layout, Width::Four)? else { return Ok(None) };
        match count.checked_mul(smallest.max(1)) {
            Some(bytes) if bytes <= self.remaining() => Ok(Some(count)),
            _ => Err(ReadError::Count(i64::try_from(count).unwrap_or(i64::MAX))),
        }
    }

    /// An array of elements that take at least `smallest` bytes each.
    pub(crate) fn array<T>(
        &mut self,
        layout: Layout,
        smallest: usize,
        element: impl FnMut(&mut Self) -> Result<T, ReadError>,
    ) -> Result<Vec<T>, ReadError> {
        self.nullable_array(layout, smallest, element)?.ok_or(ReadError::Null)
    }

    /// An array that may be null.
    pub(crate) fn nullable_array<T>(
        &mut self,
        layout: Layout,
        smallest: usize,
        mut element: impl FnMut(&mut Self) -> Result<T, ReadError>,
    ) -> Result<Option<Vec<T>>, ReadError> {
        let Some(count) = self.count(layout, smallest)? else { return Ok(None) };
        let mut elements = Vec::with_capacity(count);
        #[cfg(test)]
        RESERVED.with(|reserved| reserved.set(reserved.get() + count * size_of::<T>()));
        for _ in 0..count {
            elements.push(element(self)?);
        }
        Ok(Some(elements))
    }

    /// Moves past an array whose elements take `width` bytes each.
    pub(crate) fn skip_array(&mut self, layout: Layout, width: usize) -> Result<(), ReadError> {
        let count = self.count(layout, width)?.unwrap_or(0);
        self.skip(count.saturating_mul(width))
    }

    /// Moves past the tagged fields at the end of a struct: none in a classic layout.
    pub(crate) fn skip_tags(&mut self, layout: Layout) -> Result<(), ReadError> {
        if layout == Layout::Classic {
            return Ok(());
        }
        // Each turn takes two bytes at least, so what is left bounds the loop, whatever the count says.
        for _ in 0..self.uvarint()? {
            self.uvarint()?;
            let length = self.uvarint()?;
            self.skip(usize::try_from(length).unwrap_or(usize::MAX))?;
        }
        Ok(())
    }

    /// A length or count as it is written: None for null.
    fn length(&mut self, layout: Layout, classic: Width) -> Result<Option<usize>, ReadError> {
        let length = match (layout, classic) {
            (Layout::Compact, _) => i64::from(self.uvarint()?) - 1,
            (Layout::Classic, Width::Two) => i64::from(self.i16()?),
            (Layout::Classic, Width::Four) => i64::from(self.i32()?),
        };
        match length {
            -1 => Ok(None),
            _ => usize::try_from(length).map(Some).map_err(|_| ReadError::Count(length)),
        }
    }
}

/// How many bytes a length takes in the classic layout.
#[derive(Clone, Copy)]
enum Width {
    Two,
    Four,
}

#[cfg(test)]
thread_local! {
    /// How many bytes arrays have reserved.
    static RESERVED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// How many bytes the arrays that `read` reads reserve.
#[cfg(test)]
pub(super) fn reserved_by(read: impl FnOnce()) -> usize {
    let before = RESERVED.get();
    read();
    RESERVED.get() - before
}

#[cfg(test)]
mod tests;
