// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { KubeError, type Transport } from "@switchyard/kube";
import { createPodChecks } from "./pod-checks.ts";

const { signal } = new AbortController();
const names = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `host-${at}`);

/** Checks of pods on a clock of their own, and the hosts whose pods were listed. */
function checks({ refuses = false } = {}) {
  const listed: string[] = [];
  const reported: string[] = [];
  let nowMs = 0;
  const transport = {
    request({ query }: Parameters<Transport["request"]>[0]) {
      listed.push(String(query?.["fieldSelector"]).replace("spec.nodeName=", ""));
      if (refuses) return Promise.reject(new KubeError("GET pods", "Forbidden"));
      return Promise.resolve({ apiVersion: "v1", kind: "PodList", metadata: { resourceVersion: "1" }, items: [] });
    },
  } as unknown as Transport;
  const pods = createPodChecks({ transport, now: () => new Date(nowMs), report: (_, node) => reported.push(node) });
  return {
    pods,
    reported,
    /** Rechecks after a time, and returns the hosts whose pods were listed. */
    async after(ms: number, hosts: readonly string[]) {
      nowMs += ms;
      listed.length = 0;
      await pods.recheck(hosts, signal);
      return listed.toSorted();
    },
  };
}

describe("createPodChecks", () => {
  it("lists the pods of a host again after a minute, and forgets hosts that have left", async () => {
    const { pods, after } = checks();
    expect(await after(0, ["a", "b"])).toEqual(["a", "b"]);
    expect(pods.of("b")).toEqual({ count: 0, names: [] });
    expect(await after(30_000, ["a"])).toEqual([]);
    expect(pods.of("b")).toBeUndefined();
    expect(await after(30_000, ["a", "b"])).toEqual(["a", "b"]);
  });

  it("lists the pods of few hosts of a large cluster at a time, until all have had their turn", async () => {
    const { after } = checks();
    const hosts = names(50);
    const rounds = [await after(0, hosts), await after(10_000, hosts), await after(10_000, hosts)];
    expect(rounds.map((round) => round.length)).toEqual([20, 20, 10]);
    expect(new Set(rounds.flat())).toEqual(new Set(hosts));
  });

  it("does nothing soon after a round, however often it is called", async () => {
    const { after } = checks();
    const hosts = names(50);
    await after(0, hosts);
    expect(await after(9_000, hosts)).toEqual([]);
  });

  it("reports a host whose pods cannot be listed", async () => {
    const { pods, reported, after } = checks({ refuses: true });
    await after(0, ["a"]);
    expect([reported, pods.of("a")]).toEqual([["a"], undefined]);
  });
});
