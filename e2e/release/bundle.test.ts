// SPDX-License-Identifier: Apache-2.0
/**
 * The bundle for OpenShift: its objects on a real API server, the verdict of OLM's own validator, and its image in a real
 * registry.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { goPrograms } from "@switchyard/go-programs";
import { type ControlPlane, findWorkspaceRoot, outputOf, startControlPlane } from "@switchyard/testing";
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { disposeOf } from "../src/dispose-of.ts";
import { startRegistry, type Registry } from "../cluster/registry.ts";

interface Csv {
  readonly kind: string;
  readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
  readonly spec: {
    readonly install: {
      readonly spec: {
        readonly clusterPermissions: readonly { readonly rules: readonly unknown[] }[];
        readonly permissions: readonly { readonly rules: readonly unknown[] }[];
        readonly deployments: readonly { readonly name: string; readonly spec: unknown }[];
      };
    };
  };
}

const root = findWorkspaceRoot();
const directory = mkdtempSync(join(tmpdir(), "switchyard-bundle-"));
const bundle = join(directory, "bundle");
const namespace = "openshift-sriov-network-operator";
let cluster: ControlPlane;
let registry: Registry;
let crane: string;
let verifier: string;
let pushed: string;

beforeAll(async () => {
  registry = await startRegistry();
  crane = join(await goPrograms("crane"), "crane");
  verifier = join(await goPrograms("operator-verify"), "operator-verify");
  const args = ["bundle", "--output", bundle, "--push", `localhost:${registry.port}`];
  const printed = await outputOf(process.execPath, [join(root, "tools/release/src/main.ts"), ...args], { cwd: root });
  pushed = printed.trim().split("\n").at(-1) ?? "";
  cluster = await startControlPlane();
  await cluster.kubectl(["create", "namespace", namespace]);
}, 900_000);

afterAll(async () => {
  await disposeOf(cluster, registry);
  rmSync(directory, { recursive: true, force: true });
});

const manifests = (): readonly string[] =>
  readdirSync(join(bundle, "manifests")).map((file) => join(bundle, "manifests", file));
const isCsv = (file: string): boolean => file.endsWith(".clusterserviceversion.yaml");

function apply(object: unknown): Promise<string> {
  return cluster.kubectl(["apply", "--server-side", "--force-conflicts", "--namespace", namespace, "-f", "-"], {
    input: JSON.stringify(object),
  });
}

/** What OLM's validator finds: a line each. It ends with 0 whatever it finds. */
function findings(directory: string): readonly string[] {
  const { status, stderr } = spawnSync(verifier, ["manifests", "--object_validate", directory], { encoding: "utf8" });
  expect(status).toBe(0);
  return stderr.split("\n").filter((line) => line !== "");
}

describe("the bundle", () => {
  it("has objects that the API server takes: CRDs, what is beside the operator, and the examples", async () => {
    for (const file of manifests().filter((path) => !isCsv(path))) {
      await cluster.kubectl(["apply", "--server-side", "--namespace", namespace, "-f", file]);
    }
    const csv = parse(readFileSync(manifests().find(isCsv) ?? "", "utf8")) as Csv;
    await cluster.kindsServed();
    const { "alm-examples": examples = "", ...annotations } = csv.metadata.annotations;
    for (const example of JSON.parse(examples) as readonly unknown[]) await apply(example);
    // The console offers it if the namespace has none yet.
    await cluster.kubectl(["delete", "sriovoperatorconfigs", "--all", "--namespace", namespace]);
    await apply(JSON.parse(annotations["operatorframework.io/initialization-resource"] ?? ""));
    await apply(JSON.parse(annotations["operatorframework.io/suggested-namespace-template"] ?? ""));
  }, 120_000);

  it("has a Deployment and rights that the API server takes as OLM makes them", async () => {
    const csv = parse(readFileSync(manifests().find(isCsv) ?? "", "utf8")) as Csv;
    const { clusterPermissions, permissions, deployments } = csv.spec.install.spec;
    for (const { name, spec } of deployments) {
      await apply({ apiVersion: "apps/v1", kind: "Deployment", metadata: { name }, spec });
    }
    const apiVersion = "rbac.authorization.k8s.io/v1";
    for (const { rules } of clusterPermissions)
      await apply({ apiVersion, kind: "ClusterRole", metadata: { name: "x" }, rules });
    for (const { rules } of permissions) await apply({ apiVersion, kind: "Role", metadata: { name: "x" }, rules });
  }, 60_000);

  it("passes the validator of OLM", () => {
    expect(findings(bundle)).toEqual([]);
  });

  it("would not pass without a CRD that it provides", () => {
    const broken = join(directory, "broken");
    cpSync(bundle, broken, { recursive: true });
    rmSync(join(broken, "manifests", "sriovnetworks.sriovnetwork.openshift.io.customresourcedefinition.yaml"));
    expect(findings(broken).join("\n")).toMatch(/level=error .*Kind=SriovNetwork\\".* not found in bundle/);
  });

  it("is an image with its files and the labels that catalogs read", async () => {
    expect(pushed).toMatch(/^localhost:\d+\/switchyard-bundle@sha256:[0-9a-f]{64}$/);
    const config = JSON.parse(await outputOf(crane, ["config", pushed])) as {
      config: { Labels: Record<string, string> };
    };
    const { annotations } = parse(readFileSync(join(bundle, "metadata/annotations.yaml"), "utf8")) as {
      annotations: Record<string, string>;
    };
    expect(config.config.Labels).toEqual(annotations);
    const archive = join(directory, "image.tar");
    await outputOf(crane, ["export", pushed, archive]);
    const listed = (await outputOf("tar", ["-tf", archive])).trim().split("\n");
    expect(listed.filter((path) => path.endsWith(".yaml")).sort()).toEqual(
      [...manifests().map((path) => path.slice(bundle.length + 1)), "metadata/annotations.yaml"].sort(),
    );
  }, 60_000);
});
