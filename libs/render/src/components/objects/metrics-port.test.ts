// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { Manifest, RbacRule, Role } from "./kube-objects.ts";
import { containerOf, envOf, objectsOf, podOf } from "../testing/deployment.ts";

const secure = { hasSecureMetrics: true };
const components = [
  { component: "config-daemon", container: "sriov-network-config-daemon", port: 29123 },
  { component: "device-plugin", container: "follow-config", port: 29125 },
  { component: "afxdp-device-plugin", container: "afxdp-device-plugin", port: 29124 },
  { component: "dra-driver", container: "sriov-dra-driver", port: 29126 },
  { component: "operator-webhook", container: "webhook-server", port: 8445 },
] as const;

/** The rules of the component's ClusterRoles. */
function clusterRulesOf(component: (typeof components)[number]["component"], overrides = {}): readonly RbacRule[] {
  return objectsOf(component, {}, overrides).flatMap((object) => (isClusterRole(object) ? object.rules : []));
}

function isClusterRole(object: Manifest): object is Role {
  return object.kind === "ClusterRole";
}

describe.each(components)("the metrics of $component", ({ component, container, port }) => {
  it("have a port that monitors find, and are served over TLS to those who may read them", () => {
    const rendered = containerOf(podOf(component, {}, secure), container);
    expect(rendered.ports).toEqual([{ name: "metrics", containerPort: port, protocol: "TCP" }]);
    expect(envOf(rendered)).toMatchObject({ METRICS_ADDRESS: `:${port}`, METRICS_SECURE: "true" });
    const resources = clusterRulesOf(component, secure).flatMap((rule) => ("resources" in rule ? rule.resources : []));
    expect(resources).toEqual(expect.arrayContaining(["tokenreviews", "subjectaccessreviews"]));
  });

  it("need no right, and on the host network have no port, unless the operator's metrics are secure", () => {
    const rendered = containerOf(podOf(component), container);
    expect(envOf(rendered)["METRICS_SECURE"]).toBeUndefined();
    expect(rendered.ports?.length ?? 0).toBe(component === "operator-webhook" ? 1 : 0);
    expect(JSON.stringify(clusterRulesOf(component))).not.toContain("tokenreviews");
  });
});

describe("the metrics of the config daemon", () => {
  it("are as the user says who sets their address", () => {
    const spec = { configDaemonEnvVars: { METRICS_ADDRESS: ":29120" } };
    const rendered = containerOf(podOf("config-daemon", spec, secure), "sriov-network-config-daemon");
    expect(rendered.ports).toBeUndefined();
    expect(envOf(rendered)).toMatchObject({ METRICS_ADDRESS: ":29120" });
    expect(envOf(rendered)).not.toHaveProperty("METRICS_SECURE");
  });
});
