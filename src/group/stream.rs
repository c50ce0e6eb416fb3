//! A member's events as a stream.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;

use super::event::Event;
use super::member::GroupMember;
use crate::error::Error;

/// The events of a member that it owns: between two events it asks for the next one.
pub(super) struct Events {
    next: Option<Next>,
}

type Next = Pin<Box<dyn Future<Output = (GroupMember, Result<Option<Event>, Error>)> + Send>>;

impl Events {
    pub(super) fn new(member: GroupMember) -> Self {
        Self { next: Some(ask(member)) }
    }
}

fn ask(mut member: GroupMember) -> Next {
    Box::pin(async move {
        let event = member.next_kept().await;
        (member, event)
    })
}

impl Stream for Events {
    type Item = Result<Event, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(next) = &mut self.next else {
            return Poll::Ready(None);
        };
        let (member, event) = ready!(next.as_mut().poll(cx));
        // After an error or the end there is nothing to ask for.
        self.next = matches!(event, Ok(Some(_))).then(|| ask(member));
        Poll::Ready(event.transpose())
    }
}
