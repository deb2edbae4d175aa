// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { customResources } from "@switchyard/api";
import { findWorkspaceRoot } from "@switchyard/testing";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { chartImages } from "./chart-manifest.ts";

const root = findWorkspaceRoot();
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const chart = parse(read("charts/switchyard/Chart.yaml")) as Readonly<Record<string, unknown>> & {
  readonly version: string;
  readonly annotations: Readonly<Record<string, string>>;
};

describe("Chart.yaml", () => {
  it("has what Artifact Hub shows: home, icon, sources, maintainers and category", () => {
    expect(chart).toMatchObject({
      home: expect.stringMatching(/^https:/),
      icon: expect.stringMatching(/\.svg$/),
      sources: [expect.stringMatching(/^https:/)],
      maintainers: [{ name: expect.any(String) }],
      annotations: { "artifacthub.io/category": "networking", "artifacthub.io/license": "Apache-2.0" },
    });
  });

  it("links to files of the repository", () => {
    const links = parse(chart.annotations["artifacthub.io/links"] ?? "") as readonly { readonly url: string }[];
    const urls = [...links.map(({ url }) => url), String(chart["icon"])];
    const files = urls.map((url) => url.replace(new RegExp(`^.*/v${chart.version}/`), ""));
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  it("lists each image with its version, and each kind with a sentence", () => {
    const images: unknown = parse(chart.annotations["artifacthub.io/images"] ?? "");
    expect(images).toEqual(chartImages(chart.version));
    expect(chartImages("1.2.3")).toContainEqual({
      name: "operator",
      image: "ghcr.io/switchyard/switchyard-operator:1.2.3",
    });
    const crds = parse(chart.annotations["artifacthub.io/crds"] ?? "") as readonly Readonly<Record<string, string>>[];
    expect(crds.map(({ kind }) => kind).toSorted()).toEqual(customResources.map(({ kind }) => kind).toSorted());
    expect(crds.filter(({ description = "" }) => !description.endsWith("."))).toEqual([]);
  });
});

describe("README.md of the chart", () => {
  it("has absolute links only, which a packaged chart can follow", () => {
    const targets = [...read("charts/switchyard/README.md").matchAll(/\]\(([^)#]+)/g)].map(([, target = ""]) => target);
    expect(targets.length).toBeGreaterThan(2);
    expect(targets.filter((target) => !target.startsWith("https://"))).toEqual([]);
  });
});
