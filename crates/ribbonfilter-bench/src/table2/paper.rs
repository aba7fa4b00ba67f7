//! The rows of the paper's Table 2 that have a counterpart among our filters or the peers: the same
//! filter, not one of the same kind. The paper's blocked Bloom filters have blocks of 512 bits, a
//! split-block filter has 256, so these are not compared.

/// One row. Each pair is for 10^6 and 10^8 keys.
pub struct Paper {
    pub name: &'static str,
    /// In percent.
    overhead: [f64; 2],
    /// In ns per key.
    build: [f64; 2],
    /// In ns, the middle of the times for different fractions of present keys.
    query: [f64; 2],
}

const fn row(name: &'static str, overhead: [f64; 2], build: [f64; 2], query: [f64; 2]) -> Paper {
    Paper { name, overhead, build, query }
}

#[rustfmt::skip]
const ROWS: [Paper; 38] = [
    row("BlockedBloom 512 2^-7 (ours, for comparison)", [49.8; 2], [21.0, 72.0], [10.0, 36.0]),
    row("Cuckoo12 +space (ours, for comparison)", [46.2; 2], [69.0, 147.0], [21.0, 58.0]),
    row("Cuckoo12 (ours, for comparison)", [40.3; 2], [91.0, 205.0], [20.0, 58.0]),
    row("Xor r=7 (ours, for comparison)", [23.0; 2], [195.0, 264.0], [21.0, 66.0]),
    row("Xor+ r=8 (ours, for comparison)", [14.5; 2], [171.0, 299.0], [35.0, 104.0]),
    row("Xor r=3 (ours, for comparison)", [23.1; 2], [194.0, 264.0], [16.0, 55.0]),
    row("Cuckoo16 +space (ours, for comparison)", [36.0; 2], [68.0, 147.0], [20.0, 59.0]),
    row("Cuckoo16 (ours, for comparison)", [30.2; 2], [84.0, 201.0], [20.0, 59.0]),
    row("Xor r=12 (ours, for comparison)", [23.1; 2], [175.0, 251.0], [23.0, 74.0]),
    row("Xor+ r=11 (ours, for comparison)", [12.8; 2], [185.0, 317.0], [38.0, 107.0]),
    row("xorf Xor8", [23.0; 2], [148.0, 211.0], [15.0, 50.0]),
    row("Homogeneous w=16 r=7", [52.0; 2], [56.0, 101.0], [40.0, 88.0]),
    row("Homogeneous w=32 r=7", [20.6; 2], [58.0, 116.0], [38.0, 85.0]),
    row("Standard w=64 r=7", [14.0, 20.0], [71.0, 130.0], [42.0, 94.0]),
    row("Homogeneous w=64 r=7", [10.1; 2], [83.0, 160.0], [39.0, 90.0]),
    row("Standard w=128 r=7", [6.0, 8.0], [166.0, 235.0], [58.0, 140.0]),
    row("Homogeneous w=128 r=7", [5.1; 2], [164.0, 270.0], [53.0, 145.0]),
    row("Balanced w=32 r=7 +15 %", [15.3; 2], [84.0, 278.0], [47.0, 104.0]),
    row("Balanced w=32 r=7", [2.5; 2], [162.0, 372.0], [48.0, 107.0]),
    row("Balanced w=64 r=7", [0.7; 2], [292.0, 516.0], [49.0, 111.0]),
    row("Balanced w=128 r=7", [0.3; 2], [985.0, 1335.0], [66.0, 162.0]),
    row("Homogeneous w=32 r=7.7", [22.7; 2], [61.0, 120.0], [43.0, 96.0]),
    row("Homogeneous w=32 r=8", [22.1; 2], [61.0, 116.0], [39.0, 86.0]),
    row("Homogeneous w=16 r=3", [34.6; 2], [46.0, 91.0], [23.0, 66.0]),
    row("Homogeneous w=32 r=3", [16.1; 2], [52.0, 108.0], [21.0, 55.0]),
    row("Standard w=64 r=3", [14.0, 20.0], [66.0, 124.0], [22.0, 62.0]),
    row("Homogeneous w=64 r=3", [8.0; 2], [71.0, 152.0], [21.0, 72.0]),
    row("Standard w=128 r=3", [6.0, 8.0], [145.0, 213.0], [35.0, 79.0]),
    row("Homogeneous w=128 r=3", [4.2; 2], [156.0, 266.0], [33.0, 79.0]),
    row("Balanced w=32 r=3", [2.8; 2], [155.0, 377.0], [29.0, 68.0]),
    row("Balanced w=64 r=3", [0.8; 2], [288.0, 517.0], [29.0, 84.0]),
    row("Homogeneous w=32 r=11", [28.0; 2], [74.0, 129.0], [51.0, 118.0]),
    row("Standard w=64 r=11", [14.0, 20.0], [78.0, 139.0], [54.0, 138.0]),
    row("Homogeneous w=64 r=11", [12.7; 2], [89.0, 163.0], [51.0, 118.0]),
    row("Standard w=128 r=11", [6.0, 9.0], [173.0, 247.0], [71.0, 164.0]),
    row("Homogeneous w=128 r=11", [7.3; 2], [189.0, 292.0], [72.0, 166.0]),
    row("Balanced w=32 r=11", [2.3; 2], [169.0, 394.0], [60.0, 142.0]),
    row("Balanced w=64 r=11", [0.5; 2], [301.0, 536.0], [61.0, 147.0]),
];

/// The paper's figures for a row of this name and about this number of keys.
pub fn find(name: &str, keys: u64) -> Option<Figures> {
    let row = ROWS.iter().find(|row| row.name == name)?;
    let of = |pair: [f64; 2]| match keys {
        ..3_000_000 => Some(pair[0]),
        30_000_000.. => Some(pair[1]),
        // In between, only figures that do not depend on the number of keys.
        _ => (pair[0] == pair[1]).then_some(pair[0]),
    };
    Some(Figures { overhead: of(row.overhead), build: of(row.build), query: of(row.query) })
}

/// The paper's figures for one row and number of keys.
pub struct Figures {
    pub overhead: Option<f64>,
    pub build: Option<f64>,
    pub query: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::Ribbon;

    #[test]
    fn every_ribbon_of_the_paper_has_a_row_of_ours() {
        let ours: Vec<String> = super::super::GROUPS
            .iter()
            .flat_map(|group| group.ribbons(1 << 20))
            .map(|ribbon: Ribbon| ribbon.name())
            .collect();
        for row in ROWS.iter().filter(|row| row.name.contains("w=")) {
            assert!(ours.iter().any(|name| name == row.name), "{}", row.name);
        }
    }

    #[test]
    fn every_peer_of_the_paper_has_a_row() {
        let names: Vec<String> = super::super::GROUPS
            .iter()
            .flat_map(|group| group.peers(1 << 20, 1))
            .map(|peer| peer.name().to_string())
            .collect();
        for row in &ROWS {
            assert!(names.iter().any(|name| name == row.name), "{}", row.name);
        }
    }

    #[test]
    fn figures_for_a_number_of_keys() {
        let at = |keys| find("Standard w=64 r=7", keys).unwrap();
        assert_eq!(at(1_000_000).overhead, Some(14.0));
        assert_eq!(at(10_000_000).overhead, None);
        assert_eq!(at(100_000_000).build, Some(130.0));
        assert_eq!(find("Balanced w=64 r=7", 10_000_000).unwrap().overhead, Some(0.7));
        assert!(find("Bumped w=64 r=7", 1_000_000).is_none());
    }
}
