// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { DrainedPod } from "./drained-pod.ts";
import { selectHolderPods, type FoundHolders, type VfHolderPod } from "./holder-pods.ts";

function pod(name: string, uid: string, overrides: Partial<DrainedPod> = {}): DrainedPod {
  return {
    name,
    namespace: "default",
    uid,
    endsBy: undefined,
    finalizers: [],
    isFinished: false,
    kind: "other",
    holdsVfs: true,
    hasAfxdpDevices: false,
    claims: [],
    toleratesDrain: false,
    ...overrides,
  };
}

const holder = (name: string, uid?: string, since = "2026-11-28T08:00:00Z"): VfHolderPod => {
  return { namespace: "default", name, since, ...(uid !== undefined && { uid }) };
};

function selected(pods: readonly DrainedPod[], holders: readonly VfHolderPod[], found?: FoundHolders) {
  const { leaving, staying, gone } = selectHolderPods(pods, holders, found);
  return { leaving: leaving.map(({ uid }) => uid), staying: staying.map(({ uid }) => uid), gone };
}

describe("selectHolderPods", () => {
  it("selects the pod with the holder's uid, and no other pod", () => {
    const pods = [pod("web", "1"), pod("db", "2")];
    expect(selected(pods, [holder("web", "1")])).toEqual({ leaving: ["1"], staying: [], gone: [] });
  });

  it("names a holder as gone that does not exist, or whose name another pod has now", () => {
    const holders = [holder("web", "1"), holder("away", "3")];
    const none = { leaving: [], staying: [], gone: ["default/away", "default/web"] };
    expect(selected([pod("web", "2")], holders)).toEqual(none);
  });

  it("leaves a static pod, which the kubelet knows by another uid than that of its mirror pod", () => {
    const mirror = pod("static", "7", { kind: "mirror", staticUid: "hash" });
    expect(selected([mirror], [holder("static", "hash")])).toEqual({ leaving: [], staying: ["7"], gone: [] });
    expect(selected([mirror], [holder("static", "other")]).gone).toEqual(["default/static"]);
  });

  it("selects no pod whose containers have ended for good", () => {
    expect(selected([pod("job", "1", { isFinished: true })], [holder("job", "1")])).toEqual({
      leaving: [],
      staying: [],
      gone: [],
    });
  });

  it("knows a holder without a uid by the pod that it found first, so the next pod of this name is another one", () => {
    const found: FoundHolders = new Map();
    expect(selected([pod("db-0", "1")], [holder("db-0")], found).leaving).toEqual(["1"]);
    expect(selected([pod("db-0", "2")], [holder("db-0")], found)).toEqual({
      leaving: [],
      staying: [],
      gone: ["default/db-0"],
    });
    expect(selected([pod("db-0", "2")], [holder("db-0", undefined, "2026-11-28T09:00:00Z")], found).leaving).toEqual([
      "2",
    ]);
  });

  it("takes a pod of a file without a uid for the holder", () => {
    expect(selected([pod("web", "")], [holder("web", "1")]).leaving).toEqual([""]);
  });
});
