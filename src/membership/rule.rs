//! Rules that the simulation must be able to break, to show that it would notice.

/// A rule of the machine. In tests one can be switched off (`Membership::without`); the
/// simulation then fails.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[cfg_attr(
    not(any(test, feature = "test-util")),
    expect(unreachable_pub, reason = "public where there is a simulation")
)]
pub enum Rule {
    /// An answer counts only for the request, the generation and the id that it was asked with.
    DropStaleAnswers,
    /// JoinGroup goes out after what had to be given up was given up.
    ReleaseBeforeJoin,
    /// What was released is not held any more.
    ForgetReleased,
    /// What was not given up by its deadline is lost.
    LoseWhatIsNotReleased,
    /// When a session has passed since the last sign of life that was acknowledged, everything is lost.
    LoseAtSessionEnd,
    /// When the coordinator does not know us, or our generation, everything is lost.
    LoseWhenExpelled,
    /// The connection of a request that was given up is never used again.
    DropTheConnection,
}

#[cfg(any(test, feature = "test-util"))]
impl Rule {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::DropStaleAnswers,
        Self::ReleaseBeforeJoin,
        Self::ForgetReleased,
        Self::LoseWhatIsNotReleased,
        Self::LoseAtSessionEnd,
        Self::LoseWhenExpelled,
        Self::DropTheConnection,
    ];
}
