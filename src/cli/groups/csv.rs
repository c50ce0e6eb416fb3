//! Offsets in a file: lines of `topic,partition,offset`, as Kafka's own tool exports and reads them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use crate::admin::OffsetResetPlan;
use crate::types::TopicPartition;

/// The largest file that is read.
const LARGEST: u64 = 64 << 20;

/// Reads a file; what is wrong is said with its line.
pub(super) fn read(path: &Path) -> Result<BTreeMap<TopicPartition, i64>, String> {
    let named = |problem: String| format!("{}{problem}", path.display());
    let text = contents(path).map_err(|error| named(format!(": {error}")))?;
    parse(&text).map_err(|(line, problem)| named(format!(":{line}: {problem}")))
}

fn contents(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(LARGEST + 1).read_to_string(&mut text)?;
    match text.len() as u64 > LARGEST {
        true => Err(io::Error::other(format!("larger than {LARGEST} bytes"))),
        false => Ok(text),
    }
}

/// A mark at the file's beginning, carriage returns and empty lines are passed over.
fn parse(text: &str) -> Result<BTreeMap<TopicPartition, i64>, (usize, String)> {
    let mut offsets = BTreeMap::new();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (line, number) in text.lines().zip(1..) {
        if line.trim().is_empty() {
            continue;
        }
        let (partition, offset) = row(line.trim()).map_err(|problem| (number, problem))?;
        let name = partition.to_string();
        if offsets.insert(partition, offset).is_some() {
            return Err((number, format!("{name} stands here for the second time")));
        }
    }
    Ok(offsets)
}

fn row(line: &str) -> Result<(TopicPartition, i64), String> {
    let fields: Vec<&str> = line.split(',').map(unquoted).collect();
    let (topic, partition, offset) = match fields.as_slice() {
        [topic, partition, offset] => (*topic, *partition, *offset),
        [_, _, _, _] => {
            return Err(
                "four fields: of several groups, with the group first; leave those that are \
                        meant, without it"
                    .to_owned(),
            );
        }
        _ => return Err("not topic,partition,offset".to_owned()),
    };
    if topic.is_empty() {
        return Err("the topic is empty".to_owned());
    }
    let partition = partition.parse::<i32>().ok().filter(|number| *number >= 0);
    let partition = partition.ok_or("the partition is no whole number from 0")?;
    let offset = offset.parse().map_err(|_| "the offset is no whole number")?;
    Ok((TopicPartition::new(topic, partition), offset))
}

/// Kafka's tool quotes names of more than 24 characters. No topic's name has a quote or a comma in it.
fn unquoted(field: &str) -> &str {
    let field = field.trim();
    field.strip_prefix('"').and_then(|field| field.strip_suffix('"')).unwrap_or(field)
}

/// What a plan would commit.
pub(super) fn write(plan: &OffsetResetPlan) -> String {
    let rows = plan.offsets();
    rows.iter()
        .map(|(partition, to)| {
            format!("{},{},{}\n", partition.topic(), partition.partition(), to.offset)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_kafkas_tool_and_people_write_them() {
        let text =
            "\u{feff}orders,0,5\r\n\r\n\"a-topic-with-a-name-that-is-long\", 1 ,-7\n\norders,1,0";
        let expected = [
            (TopicPartition::new("a-topic-with-a-name-that-is-long", 1), -7),
            (TopicPartition::new("orders", 0), 5),
            (TopicPartition::new("orders", 1), 0),
        ];
        assert_eq!(parse(text), Ok(expected.into()));
        assert_eq!(parse(""), Ok(BTreeMap::new()));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, line, problem) in [
            ("orders,0", 1, "not topic,partition,offset"),
            ("orders,0,1\norders,x,1", 2, "the partition is no whole number from 0"),
            ("orders,-1,1", 1, "the partition is no whole number from 0"),
            ("orders,0,1.5", 1, "the offset is no whole number"),
            (",0,1", 1, "the topic is empty"),
            ("\norders,0,1\norders,0,2", 3, "orders-0 stands here for the second time"),
        ] {
            assert_eq!(parse(text), Err((line, problem.to_owned())), "{text}");
        }
        let (_, problem) = parse("group,orders,0,1").unwrap_err();
        assert!(problem.starts_with("four fields"), "{problem}");
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named() {
        let gone = std::env::temp_dir().join("kafka-group-no-offsets");
        let problem = read(&gone).unwrap_err();
        assert!(problem.starts_with(&format!("{}: No such file", gone.display())), "{problem}");
    }
}
