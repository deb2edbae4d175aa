// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { cniCode } from "../request/cni-error.ts";
import { readRoutingPolicy } from "./routing-policy.ts";
import { createScratch } from "../testing/scratch.ts";

const podOf = (podNamespace: string, podName: string) => ({ mac: "", podName, podNamespace });

describe("readRoutingPolicy without markers uses the namespace", () => {
  it.each([
    ["eve-kube-app", "app-1-abcde", "cluster-only"],
    ["eve-kube-app", "virt-launcher-app-1-027a9-abcde", "cluster-only"],
    ["eve-kube-app", "cdi-upload-disk-pvc-0", "default-route"],
    ["eve-kube-app", "virt-launcher-cdi-upload-x-pvc-0", "cluster-only"],
    ["eve-kube-app", "cdi-upload-disk", "cluster-only"],
    ["kube-system", "coredns-0", "default-route"],
    ["", "", "default-route"],
  ])("%s/%s: %s", (namespace, name, policy) => {
    expect(readRoutingPolicy({ markerDir: "/nowhere" }, podOf(namespace, name))).toBe(policy);
  });
});

describe("readRoutingPolicy with markers uses the marker", () => {
  function policyOf(marker: string | undefined, pod = podOf("kube-system", "web-0")) {
    using scratch = createScratch();
    mkdirSync(scratch.path("markers"));
    if (marker !== undefined) writeFileSync(scratch.path("markers", "kube-system_web-0"), marker);
    return readRoutingPolicy({ markerDir: scratch.path("markers") }, pod);
  }

  it.each([
    ["native\n", "default-route"],
    ["controller", "cluster-only"],
    ["native-ni-default\n", "cluster-only"],
    ["", undefined],
    [undefined, undefined],
  ])("%j: %s", (marker, policy) => {
    expect(policyOf(marker)).toBe(policy);
  });

  it("refuses an unknown marker", () => {
    expect(() => policyOf("everything")).toThrow(expect.objectContaining({ code: cniCode.invalidConfig }));
  });

  it.each([podOf("../../etc", "passwd"), podOf("kube-system", "../x"), podOf("", "web-0"), podOf("kube-system", "")])(
    "refuses names that would lead out of the directory: %j",
    (pod) => {
      expect(() => policyOf("native", pod)).toThrow(expect.objectContaining({ code: cniCode.invalidEnvironment }));
    },
  );
});
