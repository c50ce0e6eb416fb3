//! Whether metadata comes back from its bytes.

use std::any::TypeId;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::assign::{LocalMember, PartitionAssigner};

/// What is wrong with the metadata of an assigner and its bytes, for members of a few kinds.
pub(super) fn codec_fault<A, T>(assigner: &A) -> Option<String>
where
    A: PartitionAssigner<T>,
    T: Serialize + DeserializeOwned + Send + Sync + 'static,
{
    if TypeId::of::<T>() == TypeId::of::<()>() {
        return None;
    }
    let small = LocalMember::new("group");
    let large = LocalMember {
        member_id: "member",
        instance_id: Some("instance"),
        rack: Some("rack"),
        host_name: "host",
        cpus: 64,
        topics: &["orders", "payments"],
        ..LocalMember::new("group")
    };
    let checked = |local: &LocalMember<'_>| {
        catch_unwind(AssertUnwindSafe(|| of_member(assigner, local)))
            .unwrap_or_else(|_| Err("it panicked".to_owned()))
    };
    [small, large].iter().find_map(|local| checked(local).err())
}

fn of_member<A, T>(assigner: &A, local: &LocalMember<'_>) -> Result<(), String>
where
    A: PartitionAssigner<T>,
    T: Serialize + DeserializeOwned + Send + Sync + 'static,
{
    let codec = assigner.codec();
    let write = |told: &T| codec.encode(told).map_err(|error| format!("not written: {error}"));
    let bytes = write(&assigner.metadata(local))?;
    if write(&assigner.metadata(local))? != bytes {
        return Err("equal input, different bytes".to_owned());
    }
    let read = assigner.decode_metadata(assigner.version(), &bytes);
    let read = read.map_err(|error| format!("not read back: {error}"))?;
    match write(&read)? == bytes {
        true => Ok(()),
        false => Err("read back, it is written differently".to_owned()),
    }
}
