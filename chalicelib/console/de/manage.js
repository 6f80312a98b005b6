import { MOST_MATCHES, number, plural } from "../strings_plural.js";

export const webhooks = {
  title: "Webhooks",
  lead: "Ereignisse des Projekts, als signierte Anfragen an einen Ihrer Server.",
  organizationLead: "Ereignisse aller Projekte der Organisation, an einen Ihrer Server.",
  add: "Webhook registrieren",
  none: "Noch keine Webhooks",
  url: "URL",
  urlHint: "https an einer öffentlichen Adresse. Weiterleitungen wird nicht gefolgt.",
  types: "Arten von Ereignissen",
  typesHint: "Eine je Zeile: eine Art, ein Anfang, der auf .* endet, oder *.",
  query: "Nur passende Einträge",
  queryHint: "Parameter der Liste der einen Art, die oben genannt ist, etwa ?attribute=Species::Cod.",
  active: "Aktiv",
  paused: "Angehalten",
  disabled: (/** @type {string} */ reason) => `Abgeschaltet: ${REASONS[reason] ?? reason}`,
  pause: "Anhalten",
  resume: "Fortsetzen",
  resumed: "Der Webhook fährt nach dem letzten angenommenen Ereignis fort.",
  owner: "Eigentümer",
  secret: "Das Geheimnis",
  secretLead: "Prüfen Sie damit Nachrichten. Es wird nur jetzt gezeigt.",
  secretUntil: (/** @type {string} */ time) => `Bis ${time} sind Nachrichten auch mit dem alten Geheimnis signiert.`,
  rotate: "Geheimnis ersetzen",
  rotateLead: "Nachrichten tragen beide Signaturen, solange das alte Geheimnis gilt.",
  keepHours: "Stunden, die das alte Geheimnis noch gilt",
  ping: "Ping senden",
  pinged: (/** @type {string} */ result, /** @type {number} */ ms) =>
    `Der Server antwortete ${result} nach ${number(ms)} ms.`,
  noAnswer: "Der Server antwortete nicht.",
  deliveries: "Zustellungen",
  deliveriesOf: (/** @type {string} */ name) => `Zustellungen von ${name}`,
  deliveriesLead: "Die Versuche der letzten sieben Tage, neueste zuerst.",
  noDeliveries: "Noch wurde nichts gesendet",
  onlyFailed: "Nur fehlgeschlagene",
  more: "Frühere zeigen",
  time: "Zeit",
  event: "Ereignis",
  attempt: "Versuch",
  manual: "von Hand",
  result: "Antwort",
  next: (/** @type {string} */ time) => `Nächster Versuch ${time}`,
  redeliver: "Erneut senden",
  redeliverSince: "Ab hier alle erneut senden",
  redeliverAllLead: "Alle späteren Ereignisse des Projekts werden der Reihe nach erneut gesendet.",
};

export const rules = {
  title: "Auslöser",
  lead: "Startet einen Algorithmus oder Annotator auf jedem Medium, um das es in einem Ereignis geht, einmal je Medium.",
  add: "Auslöser hinzufügen",
  none: "Noch keine Auslöser",
  runs: "Führt aus",
  annotator: (/** @type {string} */ name) => `Annotator ${name}`,
  every: "Jeder n-te Frame",
  onImport: "Beim Import vorhersagen",
  noAlgorithms: "Registrieren Sie zuerst einen Algorithmus oder Annotator.",
};

const REASONS = /** @type {Record<string, string>} */ ({
  gone: "Der Server antwortete 410 Gone",
  failing: "Drei Tage lang wurde kein Ereignis angenommen",
  owner_lost_access: "Der Eigentümer dürfte ihn nicht mehr registrieren",
  algorithm_missing: "Der Algorithmus ist gelöscht",
  token_invalid: "Das Token des Eigentümers wurde widerrufen",
  launches_itself:
    "Seine Jobs erzeugen Medien, die ihn wieder starten; engen Sie die Abfrage ein, bevor Sie ihn aktivieren",
  algorithm_changed: "Jemand hat geändert, was der Algorithmus ausführt; aktivieren Sie ihn, um das zu billigen",
  refused: "Der Start wurde abgelehnt",
  query_refused: "Seine Abfrage wurde abgelehnt",
  error: "Er schlug drei Tage lang fehl",
});

export const history = {
  restore: "Wiederherstellen",
  restoreMany: (/** @type {number} */ count) => `${plural(count, "Löschung", "Löschungen")} zurücknehmen`,
  restored: (/** @type {Record<string, number>} */ counts) =>
    `Wiederhergestellt: ${Object.entries(counts)
      .map(([kind, count]) => plural(count, ...(KINDS[kind] ?? [kind, kind])))
      .join(", ")}.`,
  choose: (/** @type {string} */ who, /** @type {string} */ when) => `Löschung von ${who} auswählen, ${when}`,
  deletionOf: (/** @type {string} */ kind, /** @type {number[]} */ ids) =>
    `${KINDS[kind]?.[ids.length === 1 ? 0 : 1] ?? kind} ${ids.slice(0, 5).join(", ")}${ids.length > 5 ? ` und ${number(ids.length - 5)} weitere` : ""}`,
  wasRestored: "wiederhergestellt",
  entity: (/** @type {string} */ kind, /** @type {string | number} */ id) => `${KINDS[kind]?.[0] ?? kind} ${id}`.trim(),
  undo: "Rückgängig",
  earlier: "Frühere Änderungen zeigen",
};

const KINDS = /** @type {Record<string, [string, string]>} */ ({
  media: ["Medium", "Medien"],
  localization: ["Lokalisierung", "Lokalisierungen"],
  state: ["Zustand", "Zustände"],
  section: ["Bereich", "Bereiche"],
  leaf: ["Blatt", "Blätter"],
});

export const sources = {
  title: "Bucket-Quellen",
  lead: "Präfixe in Buckets der Organisation. Was dort liegt, wird ohne Kopie zu Medien.",
  add: "Präfix registrieren",
  none: "Noch keine Bucket-Quellen",
  needBucket: "Die Administration der Organisation registriert zuerst einen Bucket.",
  bucket: "Bucket",
  prefix: "Präfix",
  prefixHint: "Ordner mit Schrägstrich am Ende; leer für den ganzen Bucket.",
  mediaTypes: "Medientypen",
  mediaTypesHint: "Einer je Zeile: Endung und Name eines Medientyps, etwa: mp4 Dive.",
  section: "Ordner neuer Medien",
  pattern: "Welche Objekte",
  patternHint: "* ist beliebiger Text, ? ein Zeichen.",
  hours: "Stunden zwischen zwei Abgleichen; 0 für keine",
  objects: "Objekte",
  counts: (/** @type {any} */ each) =>
    [
      [each.created, "neu"],
      [each.changed, "geändert"],
      [each.missing, "fehlen"],
      [each.skipped, "übersprungen"],
    ]
      .filter(([count]) => count > 0)
      .map(([count, word]) => `${number(count)} ${word}`)
      .join(", "),
  listNow: "Jetzt abgleichen",
  begun: "Der Abgleich hat begonnen.",
  deleteLead: "Die Medien bleiben und verweisen weiter auf ihre Objekte.",
  noType: (/** @type {string} */ line) => `Medientypen: „${line}“ endet nicht mit dem Namen eines Medientyps.`,
};

export const datasets = {
  title: "Versionen von Datensätzen",
  lead: "Medien und Annotationen im jetzigen Stand, unter einem Namen aufbewahrt, bis die Version gelöscht wird.",
  add: "Version einfrieren",
  none: "Noch keine Versionen",
  freeze: "Einfrieren",
  started: "Die Version wird erstellt.",
  about: (/** @type {string} */ labels, /** @type {string} */ media, /** @type {number} */ commit) =>
    `${labels} Labels auf ${media} Medien bei Commit ${commit}`,
  compare: "Vergleichen",
  compareTitle: (/** @type {string} */ name) => `${name} vergleichen`,
  with: "Mit der früheren Version",
  added: "Neu",
  changed: "Geändert",
  removed: "Entfernt",
  rows: { media: "Medien", localizations: "Lokalisierungen", states: "Spuren und Zustände" },
  ids: "Die ersten davon",
  of: "Version eines Datensatzes",
  present: "Das Projekt, wie es jetzt ist",
  export_: "Exportieren",
  deleteLead: "Ihre Zeilen werden gelöscht. Die Annotationen des Projekts bleiben.",
};

export const leaves = {
  taxa: {
    name: "Taxa",
    open: "Taxa importieren",
    title: "Eine Liste von Taxa importieren",
    lead: "Ein Darwin-Core-Archiv von WoRMS oder GBIF, seine Tabelle der Taxa, oder eine CSV mit AphiaID und ScientificName. Jedes gültige Taxon wird ein Blatt mit Nummer, Rang, Autor und Synonymen. Was da ist, bleibt.",
    into: "Name des Baums",
    intoHint: "Ein vorhandener wird ergänzt; ein anderer Name legt einen neuen an.",
    file: "Datei",
    within: "Nur diese und was darunter ist",
    withinHint: "Ein Name je Zeile, etwa Gadidae; leer für die ganze Liste.",
    import: "Importieren",
    counted: (/** @type {string} */ count, /** @type {number} */ skipped) =>
      `${count} gültige Taxa${skipped ? `; ${plural(skipped, "Zeile", "Zeilen")} ohne Nummer oder Namen` : ""}`,
    done: (/** @type {number} */ created, /** @type {number} */ present) =>
      `${plural(created, "Taxon", "Taxa")} angelegt, ${number(present)} vorhanden.`,
    noTaxon: (/** @type {string} */ name) => `Die Liste hat kein gültiges Taxon „${name}“.`,
    noTable: "die erste Zeile hat nicht taxonID (oder AphiaID) und scientificName, oder es folgt kein gültiges Taxon.",
    noArchive: "das Archiv muss eine Datei taxon.txt, .tsv oder .csv haben.",
    unread: (/** @type {string} */ file, /** @type {string} */ why) => `${file}: ${why}`,
    lacking: (/** @type {string} */ type, /** @type {string} */ names) =>
      `${type} fehlen Attribute für Taxa: ${names}. Ergänzen Sie sie unter Typen, oder importieren Sie in einen neuen Baum.`,
    about: {
      taxonID: "Nummer des Taxons in seiner Liste.",
      AphiaID: "Nummer des Taxons in WoRMS.",
      rank: "Rang, etwa species.",
      authority: "Wer es wann benannt hat.",
      synonyms: "Andere Namen, durch Semikolon getrennt.",
    },
  },
  title: "Labelbäume",
  lead: "Geordnete Namen, etwa eine Taxonomie. Texte von Annotationen werden daraus ergänzt.",
  readOnly: "Mitglieder mit Vollzugriff ändern sie.",
  noTypes: "Noch keine Labelbäume",
  noTypesLead: "Ein Labelbaum ist ein Typ von Blättern. Legen Sie einen an, dann seine Blätter.",
  newTree: "Neuer Labelbaum",
  tree: "Labelbaum",
  empty: "Noch keine Blätter",
  emptyLead: "Beginnen Sie mit den obersten.",
  find: "Blatt suchen",
  matches: (/** @type {number} */ count) =>
    count >= MOST_MATCHES ? `Die ersten ${number(MOST_MATCHES)} Treffer` : plural(count, "Treffer", "Treffer"),
  addTop: "Oben hinzufügen",
  addBelow: "Darunter hinzufügen",
  addBeside: "Daneben hinzufügen",
  addBelowOf: (/** @type {string} */ name) => `Unter ${name} hinzufügen`,
  names: "Namen",
  namesHint: "Einer je Zeile. Buchstaben, Ziffern, Leerzeichen, _ - ( ) und Punkte.",
  added: (/** @type {number} */ count) => `${plural(count, "Blatt", "Blätter")} hinzugefügt.`,
  editLeaf: "Umbenennen oder bearbeiten",
  saved: (/** @type {string} */ name) => `${name} ist gespeichert.`,
  path: "Pfad",
  move: "Verschieben",
  moving: (/** @type {string} */ name) => `${name} verschieben: Wählen Sie das Blatt, unter das es kommt.`,
  moveHere: (/** @type {string} */ name) => `${name} hier darunter setzen`,
  toTop: "Nach oben",
  moved: (/** @type {string} */ name, /** @type {string} */ below) =>
    `${name} ist jetzt ${below ? `unter ${below}` : "ganz oben"}.`,
  deleteLead: (/** @type {number} */ below) =>
    `${below ? `${below >= MOST_MATCHES ? `${number(MOST_MATCHES)} oder mehr Blätter` : plural(below, "Blatt", "Blätter")} darunter ${below === 1 ? "wird" : "werden"} mitgelöscht. ` : ""}Annotationen behalten die Namen.`,
  showMore: (/** @type {number} */ count) => `${number(count)} weitere zeigen`,
  keys: "Pfeiltasten bewegen, n fügt darunter hinzu, Eingabe bearbeitet, x nimmt auf, v setzt ab, Entf löscht.",
  completion: "Ergänzt aus",
  completionNone: "Nichts",
  completionHint: "Texte werden aus den Blättern darunter ergänzt.",
};

export const transfers = {
  yoloTask: "Labels",
  tasks: { detect: "Boxen", segment: "Polygone" },
  firstPixel: "Nummer des ersten Pixels",
  imageFormat: "Format der Bilder",
  imageHeight: "Höhe der Bilder",
  imageHeightHint: "Höhere werden darauf verkleinert.",
  splitTest: "Mit Testmenge (70 : 20 : 10)",
  classAttribute: "Der Name der Klasse wird",
  classAttributeHint: "Der Wert eines Attributs, oder der Typ dieses Namens.",
  outside: "Formen über den Bildrand hinaus",
  unknownAttributes: "Attribute, die dem Typ fehlen",
  refuse: "Zeile ablehnen",
  clip: "Abschneiden",
  drop: "Auslassen",
  intoFolder: "Ordner neuer Medien",
  begin: "Beginnen",
  importNow: "Jetzt importieren",
};
