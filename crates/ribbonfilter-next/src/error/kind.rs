//! What bytes may hold.

use core::fmt;

/// What bytes may hold: [`OpenError::WrongKind`](crate::OpenError::WrongKind) reports it for bytes
/// that were opened as something else.
///
/// ```
/// use ribbonfilter_next::{Filter, Function, Kind, OpenError};
///
/// let filter = Filter::build(["ada"], 0.01)?;
/// match Function::open(filter.as_bytes()) {
///     Err(OpenError::WrongKind { found, .. }) => assert_eq!(found, Kind::Filter),
///     _ => unreachable!(),
/// }
/// assert_eq!(Kind::Container.to_string(), "container of shards");
/// # Ok::<(), ribbonfilter_next::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A [`Filter`](crate::Filter).
    Filter,
    /// A [`Function`](crate::Function).
    Function,
    /// A container of [`Shards`](crate::Shards).
    Container,
    /// A [`Shard`](crate::Shard) that stands alone.
    Shard,
    /// An exact set, of the crate `ribbonfilter-exact`.
    ExactSet,
}

impl Kind {
    /// The name in a sentence.
    pub(super) fn with_article(&self) -> impl fmt::Display {
        /// `fmt::from_fn` needs Rust 1.93.
        struct WithArticle(Kind);
        impl fmt::Display for WithArticle {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let article = if self.0 == Kind::ExactSet { "an" } else { "a" };
                write!(f, "{article} {}", self.0)
            }
        }
        WithArticle(*self)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Filter => "filter",
            Self::Function => "function",
            Self::Container => "container of shards",
            Self::Shard => "shard",
            Self::ExactSet => "exact set",
        })
    }
}
