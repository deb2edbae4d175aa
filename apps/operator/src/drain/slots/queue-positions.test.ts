// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { ok } from "@switchyard/api";
import { createQueuePositions } from "./queue-positions.ts";
import type { Place } from "./plan-drains.ts";

function place(before: number): Place {
  return { kind: "queued", askedMs: 0, pool: { title: "the default pool", limit: ok(1) }, taking: ["x"], before };
}

describe("places", () => {
  it("wake the nodes whose place changes, and no others", () => {
    const places = createQueuePositions();
    const woken: string[] = [];
    const end = places.source.start((node) => woken.push(node));
    places.publish(
      new Map([
        ["a", place(0)],
        ["b", place(1)],
        ["c", place(2)],
      ]),
    );
    places.publish(
      new Map([
        ["b", place(1)],
        ["c", place(1)],
      ]),
    );
    expect(woken).toEqual(["a", "b", "c", "c"]);
    expect(places.get("a")).toBeUndefined();
    end();
    places.publish(new Map());
    expect(woken).toHaveLength(4);
  });
});
