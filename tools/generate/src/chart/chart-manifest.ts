// SPDX-License-Identifier: Apache-2.0
/**
 * chartManifest returns the content of Chart.yaml: what `helm show chart` prints, and the annotations from which Artifact Hub makes the
 * page of the chart.
 * Usage: `chartManifest({ version: "0.1.0", kinds, repository: "https://github.com/switchyard/switchyard" })`.
 */
import type { CustomResource } from "@switchyard/api";
import { stringify } from "yaml";
import { images } from "./images.ts";

export interface ChartFacts {
  /** The product's version, which chart and images share. */
  readonly version: string;
  readonly kinds: readonly DescribedKind[];
  /** "https://github.com/switchyard/switchyard" */
  readonly repository: string;
}

export interface DescribedKind {
  readonly resource: Pick<CustomResource, "group" | "kind" | "plural" | "version">;
  /** The first sentence describes the kind. */
  readonly description: string;
}

export function chartManifest({ version, kinds, repository }: ChartFacts): string {
  const docs = `${repository}/blob/v${version}/docs`;
  const manifest = {
    apiVersion: "v2",
    name: "switchyard",
    description:
      "Kubernetes operators for accelerated node networking, a drop-in replacement for the SR-IOV network operator",
    type: "application",
    version,
    appVersion: version,
    kubeVersion: ">=1.30.0-0",
    keywords: ["sriov", "networking", "cni", "openvswitch", "dpdk", "rdma", "infiniband", "af-xdp", "smartnic"],
    home: repository,
    icon: `${repository.replace("//github.com/", "//raw.githubusercontent.com/")}/v${version}/docs/public/logo.svg`,
    sources: [repository],
    maintainers: [{ name: "Switchyard maintainers", url: repository }],
    annotations: {
      "artifacthub.io/category": "networking",
      "artifacthub.io/license": "Apache-2.0",
      "artifacthub.io/operator": "true",
      "artifacthub.io/prerelease": String(version.startsWith("0.") || version.includes("-")),
      "artifacthub.io/links": stringify([
        { name: "Installation", url: `${docs}/guide/install.md` },
        { name: "Upgrade from the Go operator", url: `${docs}/guide/upgrade.md` },
        { name: "Tasks", url: `${docs}/guide/tasks/README.md` },
      ]),
      "artifacthub.io/images": stringify(chartImages(version)),
      "artifacthub.io/crds": stringify(kinds.map(crdOf)),
    },
  };
  return stringify(manifest, { lineWidth: 0 });
}

/** The default images. Those of Switchyard have the version of the chart. */
export function chartImages(version: string): readonly { readonly name: string; readonly image: string }[] {
  return Object.entries(images).flatMap(([name, { default: reference }]) => {
    if (typeof reference !== "string" || reference === "") return [];
    const hasTag = /:[^/]+$/.test(reference);
    return [{ name: name.toLowerCase(), image: hasTag ? reference : `${reference}:${version}` }];
  });
}

function crdOf({ resource: { group, kind, plural, version }, description }: DescribedKind): object {
  const [sentence = ""] = /^[^]*?\.(?=\s|$)/.exec(description) ?? [];
  return {
    kind,
    version,
    name: `${plural}.${group}`,
    displayName: kind,
    description: sentence.replaceAll(/\s+/g, " "),
  };
}
