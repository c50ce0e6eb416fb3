//! Pure. The "consumer" protocol: topics wanted, partitions given, and the bytes that say so.

mod embedded;
mod envelope;
mod hash;
mod sticky;
mod writer;

#[cfg(test)]
fn hex(text: &str) -> bytes::Bytes {
    let digits: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap())
        .collect()
}
