// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createArrivals } from "./arrivals.ts";

const seen = (name: string, generation: number, namespace = "a") => ({ namespace, name, generation });

describe("createArrivals", () => {
  it("records the first and the last arrival, and counts objects and changes separately", () => {
    const arrivals = createArrivals();
    arrivals.begin();
    arrivals.saw(seen("n1", 1), 10);
    arrivals.saw(seen("n2", 1), 20);
    arrivals.saw(seen("n1", 2), 35);
    expect(arrivals.of("a")).toEqual({ objects: 2, changes: 3, firstMs: 10, lastMs: 35 });
  });

  it("ignores changes of status and metadata", () => {
    const arrivals = createArrivals();
    arrivals.saw(seen("n1", 4), 10);
    arrivals.begin();
    arrivals.saw(seen("n1", 4), 20);
    expect(arrivals.of("a")).toBeUndefined();
  });

  it("treats a recreated object as new", () => {
    const arrivals = createArrivals();
    arrivals.saw(seen("n1", 1), 10);
    arrivals.lost({ namespace: "a", name: "n1" });
    arrivals.begin();
    arrivals.saw(seen("n1", 1), 20);
    expect(arrivals.of("a")?.objects).toBe(1);
  });

  it("keeps namespaces apart", () => {
    const arrivals = createArrivals();
    arrivals.saw(seen("n1", 1, "a"), 10);
    arrivals.saw(seen("n1", 1, "b"), 20);
    expect(arrivals.of("b")?.firstMs).toBe(20);
  });
});
