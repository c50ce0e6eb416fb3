//! Where a process finds the id that an operator gave it.

use std::env::{self, VarError};

use crate::error::Error;
use crate::types::GroupInstanceId;

const PROPERTY: &str = "group.instance.id";

impl GroupInstanceId {
    /// The host's name: right where a host has one such process and keeps its name, as the pods of a Kubernetes
    /// StatefulSet do. The trap: a Deployment's pods have a new name at each start.
    pub fn from_hostname() -> Result<Self, Error> {
        let name = gethostname::gethostname().into_string();
        let name = name.map_err(|name| {
            Error::option(PROPERTY, format!("the host's name, {name:?}, is no text"))
        })?;
        Self::new(name.as_str()).map_err(|problem| {
            Error::option(PROPERTY, format!("the host's name, `{name}`, {problem}"))
        })
    }

    /// What an environment variable holds, which a deployment sets to something of its own in each process: the pod's
    /// name, an ordinal, a slot.
    pub fn from_env(variable: &str) -> Result<Self, Error> {
        Self::held_by(variable, env::var(variable))
    }

    fn held_by(variable: &str, value: Result<String, VarError>) -> Result<Self, Error> {
        let wrong = |problem: &dyn std::fmt::Display| {
            Error::option(PROPERTY, format!("the environment variable `{variable}` {problem}"))
        };
        match value {
            Ok(id) => Self::new(id).map_err(|problem| wrong(&problem)),
            Err(VarError::NotPresent) => Err(wrong(&"is not set")),
            Err(VarError::NotUnicode(_)) => Err(wrong(&"is no text")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(value: Result<&str, VarError>) -> Result<String, String> {
        let id = GroupInstanceId::held_by("POD", value.map(str::to_owned));
        id.map(String::from).map_err(|error| error.to_string())
    }

    #[test]
    fn a_variable_that_holds_an_id_gives_it_and_any_other_is_named() {
        assert_eq!(held(Ok("indexer-7")).as_deref(), Ok("indexer-7"));
        for (value, problem) in [
            (Ok(""), "is empty"),
            (Ok("a b"), "holds ' '"),
            (Err(VarError::NotPresent), "is not set"),
            (Err(VarError::NotUnicode("?".into())), "is no text"),
        ] {
            let said = held(value).unwrap_err();
            assert!(said.starts_with("group.instance.id: "), "{said}");
            assert!(said.contains("`POD`") && said.contains(problem), "{said}");
        }
    }

    #[test]
    fn the_environment_and_the_host_are_asked() {
        assert_eq!(
            GroupInstanceId::from_env("CARGO_PKG_NAME").map(String::from),
            Ok("kafka-group".to_owned())
        );
        let host = gethostname::gethostname();
        match GroupInstanceId::from_hostname() {
            Ok(id) => assert_eq!(id.as_str(), host),
            Err(error) => assert!(error.to_string().contains("host"), "{error}"),
        }
    }
}
