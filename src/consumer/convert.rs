//! Between our sets of partitions and rdkafka's lists.

use rdkafka::error::KafkaResult;
use rdkafka::topic_partition_list::TopicPartitionListElem;
use rdkafka::{Offset, TopicPartitionList};

use crate::types::{OffsetAndMetadata, Offsets, Partitions, TopicPartition};

/// Partitions without offsets: to unassign, pause or resume.
///
/// The trap: assigned as they are, they make librdkafka ask for committed offsets by itself. Assign what
/// [`offsets_to_list`] gives.
impl From<&Partitions> for TopicPartitionList {
    fn from(partitions: &Partitions) -> Self {
        list_of(partitions.iter())
    }
}

/// The partitions of a list; whole topics in it, which have no partition, are left out.
impl From<&TopicPartitionList> for Partitions {
    fn from(list: &TopicPartitionList) -> Self {
        let elements = list.elements();
        let partitions = elements.iter().filter(|element| element.partition() >= 0);
        partitions.map(|element| (element.topic(), element.partition())).collect()
    }
}

/// Offsets with their metadata, for rdkafka: to assign or to seek. Leader epochs stay behind, since rdkafka has no
/// place for them. An error where an offset is negative.
pub fn offsets_to_list(offsets: &Offsets) -> KafkaResult<TopicPartitionList> {
    let mut list = TopicPartitionList::with_capacity(offsets.len());
    for (at, committed) in offsets {
        if let Some(mut element) = add(&mut list, at) {
            element.set_offset(Offset::Offset(committed.offset))?;
            element.set_metadata(&committed.metadata);
        }
    }
    Ok(list)
}

/// The offsets of a list from rdkafka; what has no absolute offset (the beginning, the end, what is stored) is left
/// out. Metadata stay behind: rdkafka panics where they are not UTF-8.
pub fn list_to_offsets(list: &TopicPartitionList) -> Offsets {
    let elements = list.elements();
    let offsets = elements.iter().filter_map(|element| match element.offset() {
        Offset::Offset(offset) if element.partition() >= 0 => {
            let at = TopicPartition::new(element.topic(), element.partition());
            Some((at, OffsetAndMetadata::new(offset)))
        }
        _ => None,
    });
    offsets.collect()
}

/// Partitions without offsets.
pub(super) fn list_of(partitions: impl Iterator<Item = TopicPartition>) -> TopicPartitionList {
    let mut list = TopicPartitionList::new();
    for at in partitions {
        add(&mut list, &at);
    }
    list
}

/// Partitions with the offsets to start at.
pub(super) fn list_at(
    offsets: impl Iterator<Item = (TopicPartition, i64)>,
) -> KafkaResult<TopicPartitionList> {
    let mut list = TopicPartitionList::new();
    for (at, offset) in offsets {
        if let Some(mut element) = add(&mut list, &at) {
            element.set_offset(Offset::Offset(offset))?;
        }
    }
    Ok(list)
}

/// Adds a partition. There is no topic with a nul in its name, and rdkafka panics at one.
fn add<'a>(
    list: &'a mut TopicPartitionList,
    at: &TopicPartition,
) -> Option<TopicPartitionListElem<'a>> {
    (!at.topic().contains('\0')).then(|| list.add_partition(at.topic(), at.partition()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_go_there_and_back() {
        let partitions: Partitions =
            [("orders", 0), ("orders", 7), ("customers", 1)].into_iter().collect();
        let list = TopicPartitionList::from(&partitions);
        assert_eq!(list.count(), 3);
        assert_eq!(Partitions::from(&list), partitions);
    }

    #[test]
    fn offsets_go_there_and_back_and_what_is_no_offset_is_left_out() {
        let offsets: Offsets =
            [(TopicPartition::new("orders", 0), 42.into())].into_iter().collect();
        let mut list = offsets_to_list(&offsets).unwrap();
        list.add_partition_offset("orders", 1, Offset::Beginning).unwrap();
        assert_eq!(list_to_offsets(&list), offsets);
    }

    #[test]
    fn a_name_that_no_topic_can_have_is_left_out() {
        let partitions: Partitions = [("or\0ders", 0)].into_iter().collect();
        assert_eq!(TopicPartitionList::from(&partitions).count(), 0);
    }
}
