// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { ok } from "@switchyard/api";
import { createQueuePositions } from "./queue-positions.ts";
import type { QueuePosition } from "./plan-drains.ts";

function position(ahead: number): QueuePosition {
  return { kind: "queued", requestedMs: 0, pool: { title: "the default pool", limit: ok(1) }, holders: ["x"], ahead };
}

describe("createQueuePositions", () => {
  it("enqueues the nodes whose position changes, and no others", () => {
    const positions = createQueuePositions();
    const woken: string[] = [];
    const end = positions.source.start((node) => woken.push(node));
    positions.publish(
      new Map([
        ["a", position(0)],
        ["b", position(1)],
        ["c", position(2)],
      ]),
    );
    positions.publish(
      new Map([
        ["b", position(1)],
        ["c", position(1)],
      ]),
    );
    expect(woken).toEqual(["a", "b", "c", "c"]);
    expect(positions.get("a")).toBeUndefined();
    end();
    positions.publish(new Map());
    expect(woken).toHaveLength(4);
  });
});
