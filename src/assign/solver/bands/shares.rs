//! What each of several members is due, as an exact fraction.

/// The parts of a whole, one a member.
#[derive(Clone, Debug)]
pub(super) struct Shares {
    /// Per member; their sum is `whole`.
    parts: Vec<u128>,
    whole: u128,
}

impl Shares {
    /// Shares of `all` such that with it, and with what they carry, members have as much as their capacities say.
    /// Who carries more than that gets nothing.
    ///
    /// Some capacity must be above zero.
    pub(super) fn level(all: u64, capacities: &[u32], carried: &[u64]) -> Self {
        let mut order: Vec<usize> =
            (0..capacities.len()).filter(|place| capacities[*place] > 0).collect();
        let capacity = |place: usize| u128::from(capacities[place]);
        let load = |place: usize| u128::from(carried[place]);
        // Ascending by what they carry for their capacities.
        order.sort_by(|one, other| {
            (load(*one) * capacity(*other)).cmp(&(load(*other) * capacity(*one)))
        });
        // All that members below the level have in the end, and their capacities.
        let (mut sum, mut capacity_sum) = (u128::from(all), 0);
        let mut below = 0;
        for place in &order {
            let is_below = below == 0 || load(*place) * capacity_sum < sum * capacity(*place);
            if !is_below {
                break;
            }
            sum += load(*place);
            capacity_sum += capacity(*place);
            below += 1;
        }
        let mut parts = vec![0; capacities.len()];
        for place in &order[..below] {
            parts[*place] = (capacity(*place) * sum).saturating_sub(load(*place) * capacity_sum);
        }
        Self { parts, whole: u128::from(all) * capacity_sum }
    }

    /// The least and the most that a member has of so many items.
    pub(super) fn bounds(&self, items: u32, member: usize) -> (u32, u32) {
        if self.whole == 0 {
            return (0, 0);
        }
        let share = u128::from(items) * self.parts[member];
        ((share / self.whole) as u32, share.div_ceil(self.whole) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Per member the least and the most of so many items.
    fn bounds(items: u32, capacities: &[u32], carried: &[u64]) -> Vec<(u32, u32)> {
        let shares = Shares::level(u64::from(items), capacities, carried);
        assert_eq!(shares.parts.iter().sum::<u128>(), shares.whole);
        (0..capacities.len()).map(|member| shares.bounds(items, member)).collect()
    }

    #[test]
    fn equals_get_the_mean_rounded_down_or_up() {
        assert_eq!(bounds(7, &[1, 1, 1], &[0, 0, 0]), [(2, 3); 3]);
        assert_eq!(bounds(6, &[4, 4, 4], &[0, 0, 0]), [(2, 2); 3]);
    }

    #[test]
    fn twice_the_capacity_gets_twice_as_much_and_none_gets_nothing() {
        assert_eq!(bounds(9, &[2, 1, 0], &[0, 0, 0]), [(6, 6), (3, 3), (0, 0)]);
    }

    #[test]
    fn what_is_carried_is_levelled() {
        assert_eq!(bounds(7, &[1, 1], &[3, 0]), [(2, 2), (5, 5)]);
        assert_eq!(bounds(4, &[1, 1, 1], &[9, 1, 2]), [(0, 0), (2, 3), (1, 2)]);
        assert_eq!(bounds(1, &[1, 1], &[u64::from(u32::MAX), 0]), [(0, 0), (1, 1)]);
    }

    #[test]
    fn nothing_is_divided_into_nothing() {
        assert_eq!(bounds(0, &[1, 1], &[0, 3]), [(0, 0); 2]);
    }
}
