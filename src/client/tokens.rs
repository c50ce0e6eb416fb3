//! OAUTHBEARER's tokens, kept for as long as they are good.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout_at};

use crate::security::{Mechanism, Sasl, Token, TokenError, TokenProvider};
use crate::types::contained;

/// The tokens of one client, for all its connections and for rdkafka.
pub(super) struct Tokens {
    sasl: Sasl,
    /// Held while the provider is asked: by one at a time.
    kept: Mutex<Option<Kept>>,
}

struct Kept {
    token: Token,
    /// From when on another is asked for.
    stale: SystemTime,
}

/// What of a token's life is used: the rest is for the way, and for a provider that is away for a while.
const USED: f64 = 0.8;

/// How long a provider that failed is left alone while the last token is good: every new connection would ask it again.
const PAUSE: Duration = Duration::from_secs(10);

impl Tokens {
    pub(super) fn new(sasl: Sasl) -> Self {
        Self { sasl, kept: Mutex::default() }
    }

    /// A token that is good now; none where the mechanism has none. At the latest by `deadline`.
    ///
    /// A provider that fails, or hangs, is not missed while the last token is good: it then gets no more than half of the
    /// time, since the rest is for using the token. Cancel safe: the next who asks asks again.
    pub(super) async fn current(&self, deadline: Instant) -> Result<Option<Token>, TokenError> {
        if matches!(self.sasl.mechanism(), Mechanism::Plain { .. } | Mechanism::Scram { .. }) {
            return Ok(None);
        }
        let within = async {
            let mut kept = self.kept.lock().await;
            let now = now();
            let good = kept.as_mut().filter(|kept| now < kept.token.expires());
            if let Some(kept) = good.as_ref().filter(|kept| now < kept.stale) {
                return Ok(Some(kept.token.clone()));
            }
            let share = if good.is_some() { 2 } else { 1 };
            let left = deadline.saturating_duration_since(Instant::now());
            let asked = timeout_at(Instant::now() + left / share, self.ask(now)).await;
            match (asked.unwrap_or(Err(TokenError::TimedOut)), good) {
                (Ok(token), _) => {
                    let life = token.expires().duration_since(now).unwrap_or_default();
                    *kept = Some(Kept { token: token.clone(), stale: now + life.mul_f64(USED) });
                    Ok(Some(token))
                }
                (Err(error), Some(good)) => {
                    tracing::warn!(%error, "no new token: the last one is used for as long as it is good");
                    good.stale = now + PAUSE;
                    Ok(Some(good.token.clone()))
                }
                (Err(error), None) => Err(error),
            }
        };
        timeout_at(deadline, within).await.unwrap_or(Err(TokenError::TimedOut))
    }

    async fn ask(&self, now: SystemTime) -> Result<Token, TokenError> {
        let token = match self.sasl.mechanism() {
            Mechanism::UnsecuredToken { principal, lifetime } => {
                unsecured(principal, *lifetime, now)
            }
            Mechanism::OAuthBearer(provider) => provided(&**provider).await?,
            Mechanism::Plain { .. } | Mechanism::Scram { .. } => return Err(TokenError::Malformed),
        };
        // Anything else would end the word that it is sent in.
        let sendable =
            !token.reveal().is_empty() && token.reveal().chars().all(|c| c.is_ascii_graphic());
        match (sendable, token.expires() > now) {
            (false, _) => Err(TokenError::Malformed),
            (true, false) => Err(TokenError::Expired),
            (true, true) => Ok(token),
        }
    }
}

/// The application's own. A panic is a failure like others: the message, which may hold anything, is on stderr already.
async fn provided(provider: &dyn TokenProvider) -> Result<Token, TokenError> {
    match contained(async { provider.token().await }).await {
        Ok(asked) => asked.map_err(|error| TokenError::Failed(error.to_string().into())),
        Err(_) => Err(TokenError::Failed("it panicked".into())),
    }
}

/// A JWT that is signed with nothing. The principal has no characters that JSON writes otherwise.
fn unsecured(principal: &str, lifetime: Duration, now: SystemTime) -> Token {
    let seconds = |at: SystemTime| at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let expires = now + lifetime;
    let claims =
        format!(r#"{{"sub":"{principal}","iat":{},"exp":{}}}"#, seconds(now), seconds(expires));
    let value = format!("{}.{}.", BASE64.encode(r#"{"alg":"none"}"#), BASE64.encode(claims));
    Token::new(value, expires).principal(principal)
}

#[expect(clippy::disallowed_methods, reason = "tokens are dated by the clock on the wall")]
fn now() -> SystemTime {
    SystemTime::now()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use async_trait::async_trait;

    use super::*;
    use crate::security::TokenProvider;

    /// Gives what the script says, one after the other, and counts how often it was asked.
    struct Scripted(Arc<AtomicUsize>, fn(usize) -> Option<Token>);

    type Fault = Box<dyn std::error::Error + Send + Sync>;

    #[async_trait]
    impl TokenProvider for Scripted {
        async fn token(&self) -> Result<Token, Fault> {
            let call = self.0.fetch_add(1, Ordering::SeqCst);
            match self.1(call) {
                Some(token) => Ok(token),
                None if call >= 200 => panic!("s3cret"),
                None if call >= 100 => std::future::pending().await,
                None => Err("the provider is away".into()),
            }
        }
    }

    fn scripted(first: usize, script: fn(usize) -> Option<Token>) -> (Tokens, Arc<AtomicUsize>) {
        let calls = Arc::new(AtomicUsize::new(first));
        (Tokens::new(Sasl::oauth_bearer(Scripted(Arc::clone(&calls), script))), calls)
    }

    fn good_for(seconds: i64) -> Token {
        let span = Duration::from_secs(seconds.unsigned_abs());
        Token::new("a.b.c", if seconds < 0 { now() - span } else { now() + span })
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(5)
    }

    #[tokio::test]
    async fn a_token_is_asked_for_once_and_used_until_it_is_stale() {
        let (tokens, calls) = scripted(0, |_| Some(good_for(3600)));
        for _ in 0..3 {
            assert!(tokens.current(soon()).await.unwrap().is_some());
        }
        assert_eq!(calls.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn a_provider_that_fails_is_said_and_one_that_fails_later_is_not_missed() {
        let (tokens, _) = scripted(0, |_| None);
        let error = tokens.current(soon()).await.unwrap_err();
        assert_eq!(error, TokenError::Failed("the provider is away".into()));
        let (tokens, calls) = scripted(0, |call| (call == 0).then(|| good_for(2)));
        tokens.current(soon()).await.unwrap();
        if let Some(kept) = &mut *tokens.kept.lock().await {
            kept.stale = now();
        }
        assert!(tokens.current(soon()).await.is_ok());
        assert_eq!(calls.load(Ordering::SeqCst), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_provider_that_hangs_costs_no_more_than_the_deadline() {
        let (tokens, _) = scripted(100, |_| None);
        let begun = Instant::now();
        assert_eq!(tokens.current(soon()).await.unwrap_err(), TokenError::TimedOut);
        assert_eq!(begun.elapsed(), Duration::from_secs(5));
    }

    #[tokio::test(start_paused = true)]
    async fn a_provider_that_hangs_is_not_missed_while_the_last_token_is_good() {
        let (tokens, calls) = scripted(99, |call| (call == 99).then(|| good_for(3600)));
        tokens.current(soon()).await.unwrap();
        if let Some(kept) = &mut *tokens.kept.lock().await {
            kept.stale = now();
        }
        let begun = Instant::now();
        for _ in 0..9 {
            assert!(tokens.current(soon()).await.unwrap().is_some());
        }
        assert!(begun.elapsed() < Duration::from_secs(5), "time is left to use it");
        assert_eq!(calls.load(Ordering::SeqCst), 101, "and it is not asked at each connection");
    }

    #[tokio::test]
    async fn a_provider_that_panics_has_failed() {
        let (tokens, _) = scripted(200, |_| None);
        let error = tokens.current(soon()).await.unwrap_err();
        assert_eq!(error, TokenError::Failed("it panicked".into()));
    }

    #[tokio::test]
    async fn a_token_that_has_expired_or_cannot_be_sent_is_refused() {
        let (tokens, _) = scripted(0, |_| Some(good_for(-1)));
        assert_eq!(tokens.current(soon()).await.unwrap_err(), TokenError::Expired);
        let (tokens, _) =
            scripted(0, |_| Some(Token::new("a\x01b", now() + Duration::from_secs(9))));
        assert_eq!(tokens.current(soon()).await.unwrap_err(), TokenError::Malformed);
    }

    #[tokio::test]
    async fn an_unsecured_token_says_who_and_until_when() {
        let tokens = Tokens::new(Sasl::unsecured_token("alice"));
        let token = tokens.current(soon()).await.unwrap().unwrap();
        let claims = token.reveal().split('.').nth(1).unwrap();
        let claims = String::from_utf8(BASE64.decode(claims).unwrap()).unwrap();
        assert!(claims.starts_with(r#"{"sub":"alice","iat":"#), "{claims}");
        assert!(!format!("{token:?}").contains(token.reveal()));
    }
}
