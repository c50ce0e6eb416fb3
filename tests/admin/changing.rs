//! The commands that change groups: removing what is found by a filter, resetting and forgetting offsets, deleting.

use std::time::Duration;

use kafka_group::testing::{ErrorCode, FakeCluster, Verdict};
use kafka_group::types::TopicPartition;
use kafka_group::{ApiKey, LeavePolicy};

use crate::answers::{described_consumers, listed_as};
use crate::command::{Said, answering, check, cluster, pods, run, start};
use crate::harness::{App, GROUP, eventually, member, seen};
use crate::live::TestFile;

#[tokio::test(flavor = "multi_thread")]
async fn a_group_of_the_new_protocol_is_described() {
    let cluster = cluster();
    for (format, ending) in [("table", "txt"), ("json", "json")] {
        cluster.control(ApiKey::ListGroups, 1, |_| Verdict::Garbage(listed_as("consumer")));
        let described = described_consumers();
        cluster.control(ApiKey::ConsumerGroupDescribe, 1, move |_| {
            Verdict::Garbage(described.clone())
        });
        let said = run(&cluster, &["describe", "--group", GROUP, "--format", format]).await;
        check(&format!("describe.new.{ending}"), &said);
    }
}

/// "orders" has records 10 to 99; nobody is in the group, which has committed 30 in partition 0 and 50 in 1.
async fn behind() -> FakeCluster {
    let cluster = cluster();
    cluster.set_start_offset("orders", 10);
    cluster.set_end_offset("orders", 100);
    cluster.set_time("orders", 1_000_000, 40);
    let app = App::start(member(&cluster)).await;
    let offsets = [(0, 30), (1, 50)]
        .map(|(number, offset)| (TopicPartition::new("orders", number), offset.into()));
    app.handle.commit(offsets.into()).await.unwrap();
    app.close().await;
    cluster
}

fn committed(cluster: &FakeCluster) -> Vec<i64> {
    cluster.committed(GROUP).values().map(|committed| committed.offset).collect()
}

async fn reset(cluster: &FakeCluster, args: &[&str]) -> Said {
    run(cluster, &[&["reset-offsets", "--group", GROUP], args].concat()).await
}

fn without(said: Said, err: &str) -> Said {
    assert_eq!(said.err, err);
    Said { err: String::new(), ..said }
}

const NOTHING_CHANGED: &str = "Nothing was changed: `--execute` changes it.\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_reset_is_planned_and_then_carried_out() {
    let cluster = behind().await;
    let args = ["--topic", "orders:0,1,7", "--shift-by", "-30"];
    let said = reset(&cluster, &args).await;
    let expected = "\
TOPIC   PARTITION  COMMITTED  WOULD-BE
orders          0         30        10  0 is before the start
orders          1         50        20
orders          7          -         -  nothing is committed that could be shifted
";
    assert_eq!((said.out.as_str(), said.code), (expected, 1));
    assert_eq!((said.err.as_str(), committed(&cluster)), (NOTHING_CHANGED, vec![30, 50]));

    let args = ["--all-topics", "--to-offset", "200"];
    check("reset.txt", &reset(&cluster, &[&args[..], &["--dry-run"]].concat()).await);
    let json = ["--format", "json"];
    check("reset.json", &reset(&cluster, &[&args[..], &json, &["--dry-run"]].concat()).await);
    assert_eq!(committed(&cluster), [30, 50]);
    check("reset.done.txt", &reset(&cluster, &[&args[..], &["--execute"]].concat()).await);
    assert_eq!(committed(&cluster), [100, 100]);
    check("reset.done.json", &reset(&cluster, &[&args[..], &json, &["--execute"]].concat()).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_way_to_say_where_is_understood() {
    let cluster = behind().await;
    for (args, expected) in [
        (&["--to-earliest"][..], 10),
        (&["--to-latest"], 100),
        (&["--to-current"], 30),
        (&["--to-offset", "31"], 31),
        (&["--shift-by", "1"], 31),
        (&["--to-datetime", "1970-01-01T00:16:40.000"], 40),
        (&["--by-duration", "P30000D"], 40),
        (&["--by-duration", "PT1H"], 100),
    ] {
        let what = ["--topic", "orders:0", "--format", "json", "--dry-run"];
        let said = reset(&cluster, &[args, &what].concat()).await;
        let line: serde_json::Value = serde_json::from_str(&said.out).unwrap();
        assert_eq!(line["partitions"][0]["to"], expected, "{args:?}");
        assert_eq!((said.err.as_str(), said.code), ("", 0));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_exported_is_read_again() {
    let cluster = behind().await;
    let said = reset(&cluster, &["--all-topics", "--to-current", "--export"]).await;
    assert_eq!(said, Said { out: "orders,0,30\norders,1,50\n".into(), err: "".into(), code: 0 });
    reset(&cluster, &["--all-topics", "--to-latest", "--execute"]).await;
    assert_eq!(committed(&cluster), [100, 100]);

    let file = std::env::temp_dir().join(format!("kafka-group-{}-export", std::process::id()));
    std::fs::write(&file, said.out).unwrap();
    let path = file.to_str().unwrap();
    let one = reset(&cluster, &["--from-file", path, "--topic", "orders:1", "--execute"]).await;
    assert_eq!((one.code, committed(&cluster)), (0, vec![100, 50]));
    reset(&cluster, &["--from-file", path, "--execute"]).await;
    assert_eq!(committed(&cluster), [30, 50]);

    std::fs::write(&file, "orders,0,5\norders,9000,1\n").unwrap();
    let said = reset(&cluster, &["--from-file", path, "--export"]).await;
    assert_eq!((said.out.as_str(), said.code), ("orders,0,10\n", 1));
    let notes = "orders-0: 5 is before the start\norders-9000: UnknownTopicOrPartition (3)\n";
    assert_eq!(said.err, notes);
    std::fs::write(&file, "orders;0;5\n").unwrap();
    let said = reset(&cluster, &["--from-file", path]).await;
    let wrong = format!("{path}:1: not topic,partition,offset\n");
    assert_eq!((said.err, said.code), (wrong, 2));
    std::fs::remove_file(&file).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reset_of_nothing_says_why_and_is_not_done() {
    let cluster = behind().await;
    let empty = TestFile::new("empty", "");
    let one = TestFile::new("one", "orders,0,5\n");
    for (args, why) in [
        (&["--from-file", empty.path()][..], "the file names no partition"),
        (
            &["--from-file", one.path(), "--topic", "odrers"],
            "what `--topic` names is not in the file",
        ),
        (
            &["--group", "new", "--create", "--all-topics", "--to-latest"],
            "nothing is committed for topics that this user may DESCRIBE",
        ),
    ] {
        let group = if args.contains(&"--group") { &[][..] } else { &["--group", GROUP] };
        for execute in [&["--dry-run"][..], &["--execute"]] {
            let said = run(&cluster, &[&["reset-offsets"], group, args, execute].concat()).await;
            let nothing = format!("there is nothing to reset: {why}\n");
            assert_eq!((said.err, said.code), (nothing, 1), "{args:?} {execute:?}");
        }
    }
    assert_eq!(committed(&cluster), [30, 50]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_with_members_is_not_reset_and_they_are_named() {
    let cluster = behind().await;
    let _pods = pods(&cluster).await;
    let named = "group `indexers` is not empty: pod-1 (kafka-group at 127.0.0.1), pod-2 (kafka-group at 127.0.0.1)\n";
    let args = ["--all-topics", "--to-latest"];
    let said = reset(&cluster, &args).await;
    assert_eq!((said.err, said.code), (format!("{NOTHING_CHANGED}{named}"), 1));
    let said = reset(&cluster, &[&args[..], &["--execute"]].concat()).await;
    assert_eq!((said.err.as_str(), said.out.as_str(), said.code), (named, "", 1));
    assert_eq!(committed(&cluster), [30, 50]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_is_made_only_where_that_is_said() {
    let cluster = cluster();
    let args =
        ["reset-offsets", "--group", "new", "--topic", "orders:0", "--to-latest", "--execute"];
    let said = run(&cluster, &args).await;
    assert_eq!((said.err.as_str(), said.code), ("there is no group `new`\n", 1));
    let said = run(&cluster, &[&args[..], &["--create"]].concat()).await;
    assert_eq!((said.err.as_str(), said.code), ("", 0));
    assert_eq!(cluster.group_state("new").as_deref(), Some("Empty"));
}

#[tokio::test(flavor = "multi_thread")]
async fn offsets_are_forgotten_after_a_yes() {
    let cluster = behind().await;
    let args = ["delete-offsets", "--group", GROUP, "--topic", "orders"];
    check("forget.txt", &run(&cluster, &[&args[..], &["--dry-run"]].concat()).await);
    let said = answering(&cluster, &args, "n\n").await;
    assert!(said.err.ends_with("Forget? [y/N] Nothing was forgotten.\n"), "{}", said.err);
    assert_eq!((said.code, committed(&cluster).len()), (1, 2));

    let one = ["delete-offsets", "--group", GROUP, "--topic", "orders:1,2", "--yes"];
    check("forget.json", &run(&cluster, &[&one[..], &["--format", "json"]].concat()).await);
    assert_eq!(committed(&cluster), [30]);
    let said = run(&cluster, &one).await;
    let nothing =
        "there is nothing to forget: nothing is committed for topics that this user may DESCRIBE\n";
    assert_eq!((said.err.as_str(), said.code), (nothing, 1));

    let _app = App::start(member(&cluster)).await;
    let said = run(&cluster, &[&args[..], &["--yes"]].concat()).await;
    let kept = "\
TOPIC   PARTITION  COMMITTED  OUTCOME
orders          0         30  kept: members subscribe to it
";
    assert_eq!((said.out.as_str(), said.code), (kept, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn groups_are_deleted_after_a_yes() {
    let cluster = behind().await;
    let odd = member(&cluster).group_id("odd\n\u{1b}[31mé").group_instance_id("a");
    App::start(odd.leave_policy(LeavePolicy::Leave)).await.close().await;
    let lives = App::start(member(&cluster).group_id("lives").group_instance_id("pod")).await;
    let all = ["delete", "--group", GROUP, "--group", "odd\n\u{1b}[31mé", "--group", "lives"];
    let said = run(&cluster, &[&all[..], &["--dry-run"]].concat()).await;
    let there = "\
GROUP             STATE   MEMBERS  OFFSETS
indexers          Empty         0        2
odd\\n\\u{1b}[31mé  Empty         0        0
lives             Stable        1        0
";
    assert_eq!((said.out.as_str(), said.err.as_str(), said.code), (there, "", 1));
    let json = run(&cluster, &["delete", "--group", GROUP, "--dry-run", "--format", "json"]).await;
    check("delete.there.json", &json);

    let said = answering(&cluster, &all, "no\n").await;
    let asked = format!(
        "To be deleted:\n{there}What they have committed is lost. Delete? [y/N] Nothing was deleted.\n"
    );
    assert_eq!((said.err, said.code), (asked, 1));
    assert!(seen(&cluster, ApiKey::DeleteGroups).is_empty());

    let said = answering(&cluster, &all, "y\n").await;
    let became = "\
GROUP             OUTCOME
indexers          deleted
odd\\n\\u{1b}[31mé  deleted
lives             group `lives` is not empty: pod (kafka-group at 127.0.0.1)
";
    assert_eq!((said.out.as_str(), said.code), (became, 1));
    lives.handle.leave().await.unwrap();
    let json = ["delete", "--group", "lives", "--yes", "--format", "json"];
    check("delete.json", &run(&cluster, &json).await);
    let said = run(&cluster, &json).await;
    let line = "{\"groups\":[{\"group\":\"lives\",\"deleted\":false,\"error\":\"there is no group `lives`\"}]}\n";
    assert_eq!((said.out.as_str(), said.err.as_str(), said.code), (line, "", 1));
    let said = run(&cluster, &["delete", "--group", "lives"]).await;
    assert_eq!((said.err.as_str(), said.code), ("there is no group `lives`\n", 1), "not asked");
}

#[tokio::test(flavor = "multi_thread")]
async fn members_are_found_by_a_filter_shown_and_removed() {
    let cluster = cluster();
    let [one, two] = pods(&cluster).await;
    two.close().await;
    let found =
        ["remove-members", "--group", GROUP, "--observe", "0", "--client-id", "kafka-group"];
    let found = [&found[..], &["--instance-id-pattern", "pod-[2-9]", "--client-host", "127.0.0.1"]]
        .concat();
    check("remove.txt", &run(&cluster, &[&found[..], &["--dry-run"]].concat()).await);
    let json = ["--dry-run", "--format", "json"];
    check("remove.json", &run(&cluster, &[&found[..], &json].concat()).await);
    assert!(seen(&cluster, ApiKey::LeaveGroup).is_empty());

    let said = answering(&cluster, &found, "y\n").await;
    assert!(
        said.err.starts_with("To be removed from group `indexers`:\nINSTANCE-ID  "),
        "{}",
        said.err
    );
    assert!(said.out.starts_with("MEMBER ") && said.out.contains("pod-2 (pod-2-"), "{}", said.out);
    assert!(said.out.ends_with("  removed\n"), "{}", said.out);
    assert_eq!(said.code, 0);
    one.holds(12).await;

    let said =
        without(answering(&cluster, &found, "y\n").await, "Nobody in group `indexers` is meant.\n");
    assert_eq!((said.out.as_str(), said.code), ("", 0));
    let said = run(&cluster, &[&found[..], &["--yes"]].concat()).await;
    assert_eq!((said.out.as_str(), said.err.as_str(), said.code), ("MEMBER  OUTCOME\n", "", 0));
    let mistyped = ["remove-members", "--group", GROUP, "--observe", "0", "--instance-ids", "pd-1"];
    let said = answering(&cluster, &mistyped, "y\n").await;
    let nobody = "Nobody in group `indexers` is meant.\npd-1: not in the group\n";
    assert_eq!((said.out.as_str(), said.err.as_str(), said.code), ("", nobody, 1), "not asked");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_that_is_alive_is_said_to_be_so_before_it_is_asked() {
    let cluster = cluster();
    let [one, two] = pods(&cluster).await;
    let first = TopicPartition::new("orders", 0);
    let has = |app: &App| app.handle.status().borrow().assignment.iter().any(|it| it == first);
    let (owner, name) = if has(&one) { (one, "pod-1") } else { (two, "pod-2") };
    let handle = owner.handle.clone();
    let committing = tokio::spawn(async move {
        for offset in 0_i64.. {
            handle.commit([(first.clone(), offset.into())].into()).await.unwrap();
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    eventually("commits", || !cluster.committed(GROUP).is_empty()).await;
    let args = ["remove-members", "--group", GROUP, "--observe", "5", "--instance-ids", name];
    let said = answering(&cluster, &args, "no\n").await;
    assert!(said.err.starts_with("Looking for signs of life for up to 5 s …\n"), "{}", said.err);
    assert!(said.err.contains("  yes: it commits\n"), "{}", said.err);
    committing.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_old_broker_removes_one_by_one_where_that_is_said() {
    let old = FakeCluster::builder().topic("orders", 12).max_version(ApiKey::LeaveGroup, 2);
    let cluster = old.start().unwrap();
    let apps = [App::start(member(&cluster)).await, App::start(member(&cluster)).await];
    let ids = format!("{},{}", apps[0].id(), apps[1].id());
    let args = ["remove-members", "--group", GROUP, "--yes", "--member-ids", &ids];
    let said = run(&cluster, &args).await;
    assert!(said.err.contains("needs LeaveGroup v3 (Kafka 2.4)"), "{}", said.err);
    assert!(said.err.contains("`--one-by-one`"), "{}", said.err);
    assert_eq!(said.code, 1);
    let said = run(&cluster, &[&args[..], &["--one-by-one"]].concat()).await;
    assert_eq!((said.out.matches("removed").count(), said.code), (2, 0), "{}", said.out);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_allowed_names_what_is_needed() {
    let cluster = behind().await;
    for (api, args, needed) in [
        (ApiKey::DeleteGroups, &["delete", "--yes"][..], "DELETE"),
        (ApiKey::OffsetDelete, &["delete-offsets", "--topic", "orders", "--yes"], "DELETE"),
        (
            ApiKey::OffsetCommit,
            &["reset-offsets", "--all-topics", "--to-latest", "--execute"],
            "READ",
        ),
    ] {
        cluster.control(api, 1, |_| Verdict::Error(ErrorCode::GroupAuthorizationFailed));
        let said = run(&cluster, &[args, &["--group", GROUP]].concat()).await;
        let words = format!("not authorised for {api:?}: {needed} on group `indexers` is needed\n");
        assert!(format!("{}{}", said.out, said.err).ends_with(&words), "{said:?}");
        assert_eq!(said.code, 3);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_allowed_on_a_topic_names_what_is_needed() {
    let cluster = behind().await;
    for (api, times, now, needed) in
        [(ApiKey::ListOffsets, 2, "-", "DESCRIBE"), (ApiKey::OffsetCommit, 1, "-", "READ")]
    {
        cluster.control(api, times, |_| Verdict::Error(ErrorCode::TopicAuthorizationFailed));
        let said = reset(&cluster, &["--topic", "orders:0", "--to-latest", "--execute"]).await;
        let row =
            format!("orders          0         30    {now}  {needed} on the topic is needed\n");
        assert!(said.out.ends_with(&row), "{api:?}: {}", said.out);
        assert_eq!((said.err.as_str(), said.code), ("", 3), "{api:?}");
        cluster.clear_control();
    }
    assert_eq!(committed(&cluster), [30, 50]);
}

#[test]
fn what_makes_no_sense_is_said_and_nobody_is_asked() {
    let reset = ["reset-offsets", "--group", "g"];
    let latest = [&reset[..], &["--to-latest"]].concat();
    let remove = ["remove-members", "--group", "g"];
    for (args, message) in [
        (&reset[..], "it is not said where to: `--to-earliest`"),
        (&latest, "it is not said of what: `--topic orders`"),
        (&[&latest[..], &["--to-earliest", "--all-topics"]].concat(), "it is said more than once"),
        (&[&latest[..], &["--from-file", "/dev/null"]].concat(), "it is said more than once"),
        (
            &[&latest[..], &["--all-topics", "--topic", "t"]].concat(),
            "`--topic` and `--all-topics`",
        ),
        (&[&latest[..], &["--topic", "t:"]].concat(), "`--topic`: \"t:\" is neither a topic nor"),
        (&[&latest[..], &["--topic", "t:0,-1"]].concat(), "`--topic`: \"t:0,-1\" is neither"),
        (&[&latest[..], &["--topic", ":0"]].concat(), "`--topic`: \":0\" names no topic"),
        (
            &[&latest[..], &["--all-topics", "--execute", "--export"]].concat(),
            "`--export` says what would be done",
        ),
        (
            &[&latest[..], &["--all-topics", "--execute", "--dry-run"]].concat(),
            "`--dry-run` and `--execute` are both asked for",
        ),
        (&[&latest[..], &["--group", "h"]].concat(), "offsets are reset in one group at a time"),
        (&[&reset[..], &["--to-offset", "x"]].concat(), "`--to-offset`: \"x\" is no whole number"),
        (
            &[&reset[..], &["--to-datetime", "today"]].concat(),
            "`--to-datetime`: \"today\" is no time as in 2026-01-31T12:00:00",
        ),
        (
            &[&reset[..], &["--by-duration", "1d"]].concat(),
            "`--by-duration`: \"1d\" is no time as in P1DT2H3M4S",
        ),
        (
            &[&reset[..], &["--from-file", "/no/such"]].concat(),
            "/no/such: No such file or directory",
        ),
        (&["delete-offsets", "--group", "g"], "no `--topic` is named; `delete` forgets all"),
        (
            &["delete-offsets", "--group", "g", "--group", "h"],
            "offsets are deleted in one group at a time",
        ),
        (&["delete"], "no `--group` is named"),
        (
            &[&remove[..], &["--instance-id-pattern", "("]].concat(),
            "instance id pattern \"(\": unclosed group",
        ),
        (&[&remove[..], &["--observe", "x"]].concat(), "`--observe` takes 0 to 3600 seconds"),
        (
            &[&remove[..], &["--client-id", "c", "--all"]].concat(),
            "`--all` and some of them are both asked for",
        ),
        (
            &[&remove[..], &["--client-id", "c", "--member-ids", "m"]].concat(),
            "some are named and others are to be found",
        ),
    ] {
        let servers = ["--bootstrap-server", "127.0.0.1:1"];
        let args: Vec<_> = args.iter().chain(&servers).map(|word| (*word).to_owned()).collect();
        let said = start(&args, "");
        assert!(said.err.starts_with(message), "{args:?}: {}", said.err);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{args:?}");
    }
}
