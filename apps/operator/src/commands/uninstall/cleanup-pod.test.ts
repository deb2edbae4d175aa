// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { cleanupPod, podName, readCleanup } from "./cleanup-pod.ts";

const options = {
  namespace: "sriov",
  image: "example.com/daemon:1",
  imagePullSecrets: [],
  keepsVfs: false,
  limitSeconds: 600,
};

describe("cleanupPod", () => {
  it("is bound to the node, tolerates all taints, ends by itself and has the rights and the host that the command needs", () => {
    expect(cleanupPod("worker-1", options)).toMatchObject({
      metadata: { name: "switchyard-cleanup-worker-1", namespace: "sriov" },
      spec: {
        nodeName: "worker-1",
        hostNetwork: true,
        restartPolicy: "Never",
        automountServiceAccountToken: false,
        tolerations: [{ operator: "Exists" }],
        activeDeadlineSeconds: 600,
        containers: [
          {
            image: "example.com/daemon:1",
            args: ["cleanup"],
            securityContext: { privileged: true },
            volumeMounts: [{ name: "host", mountPath: "/host" }],
          },
        ],
        volumes: [{ name: "host", hostPath: { path: "/" } }],
      },
    });
    expect(cleanupPod("worker-1", options).spec).not.toHaveProperty("imagePullSecrets");
  });

  it("keeps VFs and has pull secrets if asked", () => {
    const { spec } = cleanupPod("worker-1", { ...options, keepsVfs: true, imagePullSecrets: ["registry"] });
    expect(spec).toMatchObject({
      imagePullSecrets: [{ name: "registry" }],
      containers: [{ args: ["cleanup", "--keep-vfs"] }],
    });
  });
});

describe("podName", () => {
  it("is valid and differs for the longest names of nodes", () => {
    const long = `${"a".repeat(220)}.${"b".repeat(30)}`;
    const names = [podName(`${long}1`), podName(`${long}2`)];
    for (const name of names) {
      expect(name.length).toBeLessThanOrEqual(253);
      expect(name).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
    }
    expect(new Set(names).size).toBe(2);
  });
});

describe("readCleanup", () => {
  const pod = (status: object) => ({ apiVersion: "v1", kind: "Pod", metadata: { name: "x" }, status });
  const withState = (phase: string, state: object, more: object = {}) =>
    pod({ phase, containerStatuses: [{ name: "cleanup", state }], ...more });

  it.each([
    { of: "a new pod", object: pod({ phase: "Pending" }), is: { state: "waiting", why: "" } },
    { of: "no status", object: pod({}), is: { state: "waiting", why: "" } },
    {
      of: "an image that cannot be pulled",
      object: withState("Pending", { waiting: { reason: "ImagePullBackOff", message: "no\nsuch image" } }),
      is: { state: "waiting", why: "ImagePullBackOff: no such image" },
    },
    { of: "a running pod", object: withState("Running", { running: {} }), is: { state: "running", why: "" } },
    { of: "success", object: withState("Succeeded", { terminated: { exitCode: 0 } }), is: { state: "succeeded" } },
    {
      of: "a failure, whose log cannot control the terminal",
      object: withState("Failed", { terminated: { exitCode: 1, message: "set sriov_numvfs 0\u001b[2J\n\nEBUSY\n" } }),
      is: { state: "failed", why: "exit code 1", log: ["set sriov_numvfs 0[2J", "EBUSY"] },
    },
    {
      of: "a failure without a log",
      object: withState(
        "Failed",
        { terminated: { exitCode: 137 } },
        { reason: "DeadlineExceeded", message: "too late" },
      ),
      is: { state: "failed", why: "exit code 137, DeadlineExceeded: too late", log: [] },
    },
    {
      of: "a pod that the kubelet refused",
      object: pod({ phase: "Failed", reason: "OutOfpods" }),
      is: { state: "failed", why: "it did not run, OutOfpods", log: [] },
    },
  ])("reads $of", ({ object, is }) => {
    expect(readCleanup(object)).toEqual(is);
  });

  it("shows only the last lines of a long log", () => {
    const message = Array.from({ length: 60 }, (_, index) => `line ${index}`).join("\n");
    const read = readCleanup(withState("Failed", { terminated: { exitCode: 1, message } }));
    expect(read).toMatchObject({ log: expect.arrayContaining(["line 40", "line 59"]) });
    expect(read.state === "failed" && read.log).toHaveLength(20);
  });
});
