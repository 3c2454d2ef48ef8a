//! The pure core: document, ids, selectors, graph, plans, changes. No file, clock or task in it.
