// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { selectPods, toDrainedPod, type DrainedPod } from "./drained-pod.ts";

function pod(name: string, overrides: Partial<DrainedPod> = {}): DrainedPod {
  return { ...toDrainedPod({ metadata: { name, namespace: "apps" } }, "openshift.io"), ...overrides };
}

const pods = [
  pod("plain"),
  pod("holder", { holdsVfs: true }),
  pod("leaving", { holdsVfs: true, endsBy: "2026-11-20T12:00:30Z" }),
  pod("finished", { holdsVfs: true, isFinished: true }),
  pod("logs", { kind: "daemon-set" }),
  pod("vnf", { kind: "daemon-set", holdsVfs: true }),
  pod("tough-vnf", { kind: "daemon-set", holdsVfs: true, toleratesDrain: true }),
  pod("kube-proxy", { kind: "mirror" }),
  pod("static-vnf", { kind: "mirror", holdsVfs: true }),
];

describe("selectPods", () => {
  it.each([
    {
      request: "Drain_Required",
      leaving: ["holder", "leaving", "vnf"],
      staying: ["tough-vnf", "static-vnf"],
    },
    { request: "Reboot_Required", leaving: ["plain", "holder", "leaving"], staying: [] },
  ] as const)("selects the pods that leave for $request", ({ request, leaving, staying }) => {
    const selection = selectPods(pods, request);
    expect(selection.leaving.map(({ name }) => name)).toEqual(leaving);
    expect(selection.staying.map(({ name }) => name)).toEqual(staying);
  });
});
