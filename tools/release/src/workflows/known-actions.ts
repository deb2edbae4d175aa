// SPDX-License-Identifier: Apache-2.0
/**
 * The actions that workflows may use, each at one commit: a tag can be moved to other code, a commit cannot. All are
 * GitHub's own. To update one, look up the commit of its new tag and change it here and in the workflows.
 */
export const knownActions: Readonly<Record<string, { readonly commit: string; readonly version: string }>> = {
  "actions/cache": { commit: "0400d5f644dc74513175e3cd8d07132dd4860809", version: "v4.2.4" },
  "actions/checkout": { commit: "08c6903cd8c0fde910a37f88322edcfb5dd907a8", version: "v5.0.0" },
  "actions/deploy-pages": { commit: "d6db90164ac5ed86f2b6aed7e0febac5b3c0c03e", version: "v4.0.5" },
  "actions/download-artifact": { commit: "d3f86a106a0bac45b974a628896c90dbdf5c8093", version: "v4.3.0" },
  "actions/setup-go": { commit: "44694675825211faa026b3c33043df3e48a5fa00", version: "v6.0.0" },
  "actions/setup-node": { commit: "a0853c24544627f65ddf259abe73b1d18a591444", version: "v5.0.0" },
  "actions/upload-artifact": { commit: "ea165f8d65b6e75b540449e92b4886f43607fa02", version: "v4.6.2" },
  "actions/upload-pages-artifact": { commit: "7b1f4a764d45c48632c6b24a0339c27f5614fb0b", version: "v4.0.0" },
};
