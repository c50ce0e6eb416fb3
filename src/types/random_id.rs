//! Ids that somebody made up anew at the last start, told from ids that will be there at the next.

/// Whether an id looks like one that the next start of its process will not have: it holds a UUID, twelve hexadecimal
/// digits or more in one piece (a container's id), or ends as the pods of a Kubernetes Deployment do.
pub(super) fn looks_random(id: &str) -> bool {
    let pieces: Vec<&str> = id.split(['-', '_', '.']).collect();
    let is_one = |piece: &&str| piece.len() >= 12 && is_mixed_hex(piece);
    pieces.windows(5).any(is_uuid) || pieces.iter().any(is_one) || ends_as_a_pod(&pieces)
}

fn is_uuid(pieces: &[&str]) -> bool {
    let lengths = pieces.iter().map(|piece| piece.len());
    lengths.eq([8, 4, 4, 4, 12]) && pieces.iter().all(|piece| is_hex(piece))
}

fn is_hex(piece: &str) -> bool {
    piece.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Digits alone are a date or a number that somebody chose, and letters alone may be a word.
fn is_mixed_hex(piece: &str) -> bool {
    let has = |kind: fn(&u8) -> bool| piece.as_bytes().iter().any(kind);
    is_hex(piece) && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
}

/// `NAME-HASH-SUFFIX`, where the hash belongs to a ReplicaSet and the suffix to a pod. Kubernetes writes both without
/// vowels and without digits that look like them, so that no word comes of it by chance.
fn ends_as_a_pod(pieces: &[&str]) -> bool {
    let [.., _, hash, suffix] = pieces else { return false };
    let of = |text: &str, alphabet: &str| text.chars().all(|c| alphabet.contains(c));
    let has_digit = hash.bytes().any(|byte| byte.is_ascii_digit());
    (7..=10).contains(&hash.len())
        && has_digit
        && of(hash, "bcdf456789")
        && suffix.len() == 5
        && of(suffix, "bcdfghjklmnpqrstvwxz2456789")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_the_next_start_will_not_have_are_told_from_chosen_ones() {
        for id in [
            "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
            "indexer-6ba7b810-9dad-11d1-80b4-00c04fd430c8",
            "indexer-6BA7B8109DAD11D180B400C04FD430C8",
            "3f2a9c1b7d4e",
            "indexer_3f2a9c1b7d4e5f60",
            "name-5d4b8c7f9d-x2x4z",
            "search-indexer-74d958b57c-xk9vd",
        ] {
            assert!(looks_random(id), "{id}");
        }
        for id in [
            "indexer-7",
            "indexer-0.indexers.search.svc.cluster.local",
            "ip-10-0-3-17",
            "rack-a-host-12",
            "orders-20261130-1",
            "orders-202611301200",
            "deadbeefcafe",
            "search-indexer-blue-green",
            "search-indexer-bcdfbcdf-green",
            "x",
            "a-b-c-d-e",
        ] {
            assert!(!looks_random(id), "{id}");
        }
    }
}
