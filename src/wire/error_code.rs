//! What brokers answer, by number.

/// A broker's error code. Numbers that this crate does not know are kept.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the names are Kafka's")]
pub enum ErrorCode {
    #[default]
    None,
    UnknownServerError,
    OffsetOutOfRange,
    UnknownTopicOrPartition,
    LeaderNotAvailable,
    NotLeaderOrFollower,
    RequestTimedOut,
    OffsetMetadataTooLarge,
    CoordinatorLoadInProgress,
    CoordinatorNotAvailable,
    NotCoordinator,
    InvalidTopic,
    IllegalGeneration,
    InconsistentGroupProtocol,
    InvalidGroupId,
    UnknownMemberId,
    InvalidSessionTimeout,
    RebalanceInProgress,
    InvalidCommitOffsetSize,
    TopicAuthorizationFailed,
    GroupAuthorizationFailed,
    ClusterAuthorizationFailed,
    UnsupportedSaslMechanism,
    IllegalSaslState,
    UnsupportedVersion,
    InvalidRequest,
    SaslAuthenticationFailed,
    NonEmptyGroup,
    GroupIdNotFound,
    MemberIdRequired,
    GroupMaxSizeReached,
    FencedInstanceId,
    GroupSubscribedToTopic,
    UnstableOffsetCommit,
    UnknownTopicId,
    FencedMemberEpoch,
    UnreleasedInstanceId,
    StaleMemberEpoch,
    /// Any other number.
    Other(i16),
}

const CODES: &[(i16, ErrorCode)] = &[
    (-1, ErrorCode::UnknownServerError),
    (0, ErrorCode::None),
    (1, ErrorCode::OffsetOutOfRange),
    (3, ErrorCode::UnknownTopicOrPartition),
    (5, ErrorCode::LeaderNotAvailable),
    (6, ErrorCode::NotLeaderOrFollower),
    (7, ErrorCode::RequestTimedOut),
    (12, ErrorCode::OffsetMetadataTooLarge),
    (14, ErrorCode::CoordinatorLoadInProgress),
    (15, ErrorCode::CoordinatorNotAvailable),
    (16, ErrorCode::NotCoordinator),
    (17, ErrorCode::InvalidTopic),
    (22, ErrorCode::IllegalGeneration),
    (23, ErrorCode::InconsistentGroupProtocol),
    (24, ErrorCode::InvalidGroupId),
    (25, ErrorCode::UnknownMemberId),
    (26, ErrorCode::InvalidSessionTimeout),
    (27, ErrorCode::RebalanceInProgress),
    (28, ErrorCode::InvalidCommitOffsetSize),
    (29, ErrorCode::TopicAuthorizationFailed),
    (30, ErrorCode::GroupAuthorizationFailed),
    (31, ErrorCode::ClusterAuthorizationFailed),
    (33, ErrorCode::UnsupportedSaslMechanism),
    (34, ErrorCode::IllegalSaslState),
    (35, ErrorCode::UnsupportedVersion),
    (42, ErrorCode::InvalidRequest),
    (58, ErrorCode::SaslAuthenticationFailed),
    (68, ErrorCode::NonEmptyGroup),
    (69, ErrorCode::GroupIdNotFound),
    (79, ErrorCode::MemberIdRequired),
    (81, ErrorCode::GroupMaxSizeReached),
    (82, ErrorCode::FencedInstanceId),
    (86, ErrorCode::GroupSubscribedToTopic),
    (88, ErrorCode::UnstableOffsetCommit),
    (100, ErrorCode::UnknownTopicId),
    (110, ErrorCode::FencedMemberEpoch),
    (111, ErrorCode::UnreleasedInstanceId),
    (113, ErrorCode::StaleMemberEpoch),
];

impl ErrorCode {
    /// Whether this says that nothing went wrong.
    pub fn is_none(self) -> bool {
        self == Self::None
    }

    /// Kafka's number.
    pub fn number(self) -> i16 {
        match self {
            Self::Other(number) => number,
            known => {
                CODES.iter().find(|(_, code)| *code == known).map_or(-1, |(number, _)| *number)
            }
        }
    }
}

impl From<i16> for ErrorCode {
    fn from(number: i16) -> Self {
        CODES
            .iter()
            .find(|(known, _)| *known == number)
            .map_or(Self::Other(number), |(_, code)| *code)
    }
}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self:?} ({})", self.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_back_as_it_went() {
        for number in -2..200 {
            assert_eq!(ErrorCode::from(number).number(), number);
        }
    }
}
