//! What happens to groups between two plans.

use std::fmt;

/// What happened to a group before it was planned for.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum GroupChange {
    /// It began: nobody has anything.
    Start,
    /// Nothing.
    Nothing,
    /// A member came.
    Join,
    /// A member went.
    Leave,
    /// A dynamic member went and came back under another id.
    Bounce,
    /// A static member restarted: another member id, the same instance id.
    Restart,
    /// A topic got more partitions.
    Growth,
    /// There is a new topic, to which some subscribe.
    NewTopic,
    /// A member subscribes to other topics.
    Resubscription,
    /// A member tells the leader nothing: another client, or another library.
    Silence,
}

impl GroupChange {
    /// In the order in which a group lives through them.
    pub(super) const ALL: [Self; 10] = [
        Self::Start,
        Self::Nothing,
        Self::Join,
        Self::Restart,
        Self::Bounce,
        Self::Leave,
        Self::Growth,
        Self::NewTopic,
        Self::Resubscription,
        Self::Silence,
    ];
}

impl fmt::Display for GroupChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Start => "start",
            Self::Nothing => "nothing",
            Self::Join => "join",
            Self::Leave => "leave",
            Self::Bounce => "bounce",
            Self::Restart => "restart",
            Self::Growth => "growth",
            Self::NewTopic => "new topic",
            Self::Resubscription => "resubscription",
            Self::Silence => "silence",
        })
    }
}
