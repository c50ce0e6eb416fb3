//! Where members can be lost together.

use std::collections::HashMap;

use crate::assign::GroupSubscription;

/// Racks, hosts and processes, the outermost first: per member the number of its domain.
///
/// A process is on one host by its name, and a host in one rack: in that of its first member that knows one. Who says
/// nothing shares nothing.
pub(super) fn domains(group: &GroupSubscription) -> Vec<Vec<u32>> {
    let mut racks_of_hosts: HashMap<&str, &str> = HashMap::new();
    for member in group.members() {
        if let (Some(host), Some(rack)) = (member.host(), member.rack()) {
            racks_of_hosts.entry(host).or_insert(rack);
        }
    }
    let (mut racks, mut hosts, mut processes) =
        (Numbers::default(), Numbers::default(), Numbers::default());
    for member in group.members() {
        let alone = Name::Alone(member.position() as u32);
        processes.add(member.process().map_or(alone, Name::Known));
        let host = hosts.add(member.host().map_or(alone, Name::Known));
        let rack = match member.host() {
            Some(host) => racks_of_hosts.get(host).copied(),
            None => member.rack(),
        };
        racks.add(rack.map_or(Name::Alone(host), Name::Known));
    }
    vec![racks.of_members, hosts.of_members, processes.of_members]
}

/// What a domain is known by.
#[derive(Clone, Copy, Eq, Hash, PartialEq)]
enum Name<'g> {
    Known(&'g str),
    /// It has no name, and nothing in it but one member or host.
    Alone(u32),
}

/// The domains of one level.
#[derive(Default)]
struct Numbers<'g> {
    known: HashMap<Name<'g>, u32>,
    of_members: Vec<u32>,
}

impl<'g> Numbers<'g> {
    /// Puts the next member into a domain; returns the domain's number.
    fn add(&mut self, name: Name<'g>) -> u32 {
        let next = self.known.len() as u32;
        let number = *self.known.entry(name).or_insert(next);
        self.of_members.push(number);
        number
    }
}
