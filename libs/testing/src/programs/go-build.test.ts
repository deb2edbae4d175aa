// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { goBuildArguments } from "./go-build.ts";

describe("goBuildArguments", () => {
  const versions = { kubernetes: "1.36.3", etcd: "3.6.16", go: "1.26" };

  it("set the Kubernetes version, which clients check", () => {
    const version = "k8s.io/component-base/version";
    const flags = `-s -w -X ${version}.gitVersion=v1.36.3 -X ${version}.gitMajor=1 -X ${version}.gitMinor=36`;
    expect(goBuildArguments("kubectl", versions, "/out/kubectl")).toEqual(
      ["build", "-trimpath", "-ldflags", flags].concat(["-o", "/out/kubectl", "k8s.io/kubernetes/cmd/kubectl"]),
    );
  });

  it("build etcd from its server module", () => {
    const args = goBuildArguments("etcd", versions, "/out/etcd");
    expect(args).toEqual(["build", "-trimpath", "-ldflags", "-s -w", "-o", "/out/etcd", "go.etcd.io/etcd/server/v3"]);
  });
});
