// SPDX-License-Identifier: Apache-2.0
/**
 * createClusterView makes the view of the plugin: the pages of doctor and vfs for the cluster that Headlamp shows.
 */
import { KubeError } from "@switchyard/kube/lists";
import type { Lister } from "../input/list-snapshot.ts";
import type { Component, Element, HeadlampLibrary } from "./headlamp-library.ts";
import { readPages, type ClusterPages } from "./read-pages.ts";

const codes: ReadonlyMap<unknown, string> = new Map([
  [401, "Unauthorized"],
  [403, "Forbidden"],
  [404, "NotFound"],
  [410, "Expired"],
]);

type State =
  | { readonly kind: "reading"; readonly done: number; readonly all: number }
  | { readonly kind: "shown"; readonly pages: ClusterPages }
  | { readonly kind: "failed"; readonly message: string };

const titles = { doctor: "Diagnosis", vfs: "VFs" } as const;
type Page = keyof typeof titles;
const pageNames: readonly Page[] = ["doctor", "vfs"];

export function createClusterView(library: HeadlampLibrary): Component {
  const { React, ApiProxy, K8s, CommonComponents, MuiMaterial } = library;
  const element = React.createElement;

  return function ClusterView() {
    const cluster = K8s.useCluster() ?? "";
    const [state, setState] = React.useState<State>({ kind: "reading", done: 0, all: 1 });
    const [page, setPage] = React.useState<Page>("doctor");
    const [round, setRound] = React.useState(0);

    React.useEffect(() => {
      let isCurrent = true;
      const show = (next: State): void => {
        if (isCurrent) setState(next);
      };
      const onProgress = (done: number, all: number): void => {
        show({ kind: "reading", done, all });
      };
      onProgress(0, 1);
      readPages(createHeadlampLister(ApiProxy.clusterRequest, cluster), { cluster, onProgress }).then(
        (pages) => {
          show({ kind: "shown", pages });
        },
        (error: unknown) => {
          show({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
        },
      );
      return () => {
        isCurrent = false;
      };
    }, [cluster, round]);

    const refresh = element(
      MuiMaterial.Button,
      {
        onClick: () => {
          setRound(round + 1);
        },
        disabled: state.kind === "reading",
        variant: "outlined",
        size: "small",
      },
      "Read again",
    );
    const tabs = element(
      MuiMaterial.Tabs,
      {
        value: page,
        onChange: (_event: unknown, next: Page) => {
          setPage(next);
        },
        "aria-label": "Pages",
      },
      pageNames.map((name) => element(MuiMaterial.Tab, { key: name, value: name, label: titles[name] })),
    );
    return element(CommonComponents.SectionBox, { title: "Switchyard" }, refresh, tabs, content(state, page));
  };

  function content(state: State, page: Page): readonly Element[] {
    switch (state.kind) {
      case "reading":
        return [
          element(CommonComponents.Loader, { key: "loader", title: "Reading the cluster" }),
          element("p", { key: "progress", role: "status" }, `${state.done} of ${state.all} kinds read`),
        ];
      case "failed":
        return [
          element(
            MuiMaterial.Alert,
            { key: "failed", severity: "error" },
            `The cluster cannot be read: ${state.message}`,
          ),
        ];
      case "shown": {
        const { refused } = state.pages;
        const note = `Not read: ${refused.join(", ")}. What depends on these kinds is missing in the pages.`;
        return [
          ...(refused.length > 0 ? [element(MuiMaterial.Alert, { key: "refused", severity: "info" }, note)] : []),
          // The page has no scripts, and could not run any: the frame is a sandbox without rights.
          element("iframe", {
            key: "page",
            title: `${titles[page]} of this cluster`,
            srcDoc: state.pages[page],
            sandbox: "",
            style: { width: "100%", height: "80vh", border: "0" },
          }),
        ];
      }
    }
  }
}

/**
 * createHeadlampLister lists objects through Headlamp, with the rights of its user.
 * Only for lists: other requests reject with KubeError, so that nothing is ever changed.
 */
export function createHeadlampLister(
  clusterRequest: HeadlampLibrary["ApiProxy"]["clusterRequest"],
  cluster: string,
): Lister {
  return {
    async request({ method, path, query = {} }) {
      const tried = `${method} ${path}`;
      if (method !== "GET") throw new KubeError(tried, "MethodNotAllowed");
      const given = Object.entries(query).flatMap(([key, value]): readonly [string, string][] =>
        value === undefined ? [] : [[key, String(value)]],
      );
      const text = new URLSearchParams(given).toString();
      try {
        return await clusterRequest(text === "" ? path : `${path}?${text}`, { cluster });
      } catch (cause) {
        const status = typeof cause === "object" && cause !== null && "status" in cause ? cause.status : undefined;
        const words = cause instanceof Error ? cause.message : String(cause);
        throw new KubeError(tried, codes.get(status) ?? "Unreachable", { words, cause });
      }
    },
  };
}
