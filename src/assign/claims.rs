//! What members say they had, as far as it exists, and whose it is.

use std::cmp::Ordering;
use std::ops::Range;

use super::model::{DOUBTFUL, Model, NONE};
use crate::types::{Generation, PartitionRanges};

/// Takes over what the next member claims, and of which of that others have the first copy.
pub(super) fn add_claims(model: &mut Model, claims: &PartitionRanges, standbys: &PartitionRanges) {
    let member = model.claims.ends.len() as u32;
    let mut known = std::mem::take(&mut model.claims.partitions);
    let begin = known.len();
    model.claims.dropped += each_known(model, claims, |places| known.extend(places));
    let own = known.get(begin..).unwrap_or_default();
    let mut stands_by = Vec::new();
    each_known(model, standbys, |places| {
        let (start, end) = (
            own.partition_point(|place| *place < places.start),
            own.partition_point(|place| *place < places.end),
        );
        stands_by.extend(own[start..end].iter().map(|place| (member, *place)));
    });
    model.claims.standbys.append(&mut stands_by);
    model.claims.ends.push(known.len() as u32);
    model.claims.partitions = known;
}

/// Hands on the places of partitions that exist, ascending; how many do not (field cases of claims for partition -1).
fn each_known(
    model: &Model,
    partitions: &PartitionRanges,
    mut known: impl FnMut(Range<u32>),
) -> usize {
    let (mut dropped, mut next) = (0, 0);
    for (name, ranges) in partitions.by_topic() {
        // Mostly the topic behind the one before.
        let place = match model.topics.get(next) {
            Some(topic) if topic.name == *name => Some(next),
            _ => model.topic_index(name).map(|place| place as usize),
        };
        let topic = place.and_then(|place| model.topics.get(place));
        next = place.map_or(next, |place| place + 1);
        let (first, count) = topic.map_or((0, 0), |topic| (topic.first, topic.count));
        for range in ranges {
            let end = range.end.min(count);
            if range.start < end {
                known(first + range.start..first + end);
            }
            dropped += (range.end - end.max(range.start)) as usize;
        }
    }
    dropped
}

/// Per partition its valid owner: the highest generation keeps it; equal ones leave it in doubt; alone, any generation
/// will do.
pub(super) fn owners(model: &Model) -> Vec<u32> {
    if model.claims.partitions.is_empty() {
        return Vec::new();
    }
    let mut owners = vec![NONE; model.partition_count()];
    let claimants =
        || (0..).zip(&model.members).filter(|(place, _)| !model.claims(*place).is_empty());
    let generation = claimants().next().map(|(_, member)| member.generation);
    match claimants().all(|(_, member)| Some(member.generation) == generation) {
        true => {
            for (place, partition) in each_claim(model) {
                let owner = &mut owners[partition as usize];
                *owner = if *owner == NONE { place } else { DOUBTFUL };
            }
        }
        false => keep_newest(model, &mut owners),
    }
    forget_others(model, &mut owners);
    owners
}

fn each_claim(model: &Model) -> impl Iterator<Item = (u32, u32)> {
    let members = 0..model.members.len() as u32;
    members.flat_map(|place| model.claims(place).iter().map(move |partition| (place, *partition)))
}

fn keep_newest(model: &Model, owners: &mut [u32]) {
    let mut newest = vec![Generation(i32::MIN); owners.len()];
    for (member, place) in model.members.iter().zip(0..) {
        for partition in model.claims(place) {
            let (owner, newest) =
                (&mut owners[*partition as usize], &mut newest[*partition as usize]);
            match member.generation.cmp(newest) {
                Ordering::Greater => (*owner, *newest) = (place, member.generation),
                Ordering::Equal => *owner = DOUBTFUL,
                Ordering::Less => {}
            }
        }
    }
}

/// Owners that subscribe no more are none.
fn forget_others(model: &Model, owners: &mut [u32]) {
    let subscriptions: Vec<u32> = model.members.iter().map(|member| member.subscription).collect();
    for (topic, place) in model.topics.iter().zip(0..) {
        // Few subscriptions, and most owners have the same.
        let (mut last, mut takes) = (NONE, false);
        for owner in &mut owners[topic.first as usize..][..topic.count as usize] {
            let Some(subscription) = subscriptions.get(*owner as usize) else { continue };
            if *subscription != last {
                (last, takes) = (*subscription, model.subscribes(*owner, place));
            }
            if !takes {
                *owner = NONE;
            }
        }
    }
}
