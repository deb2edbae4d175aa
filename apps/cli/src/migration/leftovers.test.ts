// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { runCli } from "../testing/run-cli.ts";
import { leftoversScript, type Leftover } from "./leftovers.ts";

const namespace = "sriov-network-operator";
const lease: Leftover = {
  action: "delete",
  object: "leases.coordination.k8s.io/switchyard-operator",
  namespaced: true,
  about: "of Switchyard's leader election",
};
const role: Leftover = {
  action: "release",
  object: "clusterroles.rbac.authorization.k8s.io/sriov-network-config-daemon",
  namespaced: false,
  about: "Helm keeps it when the release is uninstalled",
};

describe("leftoversScript", () => {
  it("is a script that says what each command is about, for the cluster that was read", () => {
    expect(leftoversScript([lease, role], { namespace, context: "it's C" })).toBe(
      [
        "# leases.coordination.k8s.io/switchyard-operator: of Switchyard's leader election",
        String.raw`kubectl --context 'it'\''s C' -n sriov-network-operator delete leases.coordination.k8s.io/switchyard-operator`,
        "# clusterroles.rbac.authorization.k8s.io/sriov-network-config-daemon: Helm keeps it when the release is uninstalled",
        String.raw`kubectl --context 'it'\''s C' annotate clusterroles.rbac.authorization.k8s.io/sriov-network-config-daemon helm.sh/resource-policy-`,
        "",
      ].join("\n"),
    );
  });

  it("is a comment if nothing is left", () => {
    expect(leftoversScript([], { namespace })).toBe(
      "# nothing of Switchyard is left in namespace sriov-network-operator\n",
    );
  });
});

describe("switchyard migrate leftovers", () => {
  it("needs a cluster", async () => {
    const { code, err } = await runCli(["migrate", "leftovers", "-f", "-"]);
    expect([code, err]).toEqual([64, expect.stringContaining("migrate leftovers reads a cluster: remove -f")]);
  });
});
