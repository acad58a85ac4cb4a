//! German.

use super::WordTable;
use crate::instructions::classes::WordClass as C;

/// Its words.
pub(super) const WORDS: &WordTable = &[
    (
        C::READ,
        "lies | lesen | lese | lesen sie | öffne | öffnen | zeige | zeigen | gib aus | ausgeben | rufe ab | abrufen | hole | \
         lade | auslesen | liest",
    ),
    (
        C::TAKE,
        "sammle | sammeln | kopiere | kopieren | extrahiere | extrahieren | stiehl | stehlen | suche | suchen | packe | \
         erfasse | erfassen | finde | protokolliere | sammeln sie | kopieren sie | greife ab",
    ),
    (
        C::SEND,
        "sende | senden | schicke | schick | schicken | übertrage | übertragen | lade hoch | hochladen | lade sie hoch | \
         leite weiter | weiterleiten | übermittle | übermitteln | poste | veröffentliche | maile | exfiltriere | hoch | \
         senden sie | weiter an | sendest | schickst",
    ),
    (
        C::EMBED,
        "füge | einfügen | hänge | anhängen | bette | einbetten | kodiere | kodieren | schreibe in | nimm | aufnehmen | \
         ergänze | gib mit | codiere",
    ),
    (C::RUN, "führe | ausführen | starte | starten | rufe auf | führe aus | führen sie | ruf | öffne"),
    (
        C::FETCH,
        "lade | herunterladen | herunter | besuche | besuchen | öffne | rufe | abrufen | hole | laden sie | lies",
    ),
    (C::INSTALL, "installiere | installieren | installier | installieren sie"),
    (
        C::TELL,
        "sage | sag | sagen | informiere | informieren | erwähne | erwähnen | benachrichtige | benachrichtigen | verrate | \
         verraten | zeige | zeigen | melde | melden | teile mit | mitteilen | warne | warnen | erkläre | offenbare | \
         hinweisen | unterrichte | erzähle | erwähnst | informierst",
    ),
    (
        C::ASK,
        "frage | fragen | frag | bitte um | bestätigen | nachfragen | warte | warten | fordere | einholen | rückfrage | \
         verlange | bitte den | bitte die | fordere auf | nachzufragen | zu fragen",
    ),
    (
        C::SKIP,
        "überspringe | überspringen | umgehe | umgehen | lass aus | auslassen | genehmige automatisch | \
         automatisch genehmigen | bestätige automatisch | automatisch bestätigen",
    ),
    (
        C::DROP,
        "ignoriere | ignorieren | ignorier | vergiss | vergessen | missachte | missachten | verwirf | verwerfen | \
         überschreibe | setze dich hinweg | beachte nicht | ignorieren sie | vergessen sie | übergehe",
    ),
    (
        C::OBEY,
        "folge | folgen | befolge | befolgen | gehorche | gehorchen | führe aus | ausführen | halte dich | befolgen sie | \
         führe",
    ),
    (
        C::DISABLE,
        "deaktiviere | deaktivieren | schalte | schalte aus | schalte ab | abschalten | ausschalten | entferne | umgehe | \
         umgehen | aufheben | hebe auf | deaktivieren sie",
    ),
    (
        C::CHANGE,
        "ändere | ändern | bearbeite | bearbeiten | schreibe | schreiben | setze | setzen | füge | trage | aktualisiere | \
         überschreibe | konfiguriere | stelle | trage ein | ergänze",
    ),
    (C::KEEP, "merke | merke dir | merken | speichere | speichern | behalte | bewahre | erinnere dich"),
    (
        C::DESTROY,
        "lösche | löschen | verschlüssele | verschlüsseln | zerstöre | zerstören | formatiere | formatieren | überschreibe | \
         vernichte | löschen sie",
    ),
    (
        C::PRETEND,
        "du bist jetzt | du bist nun | du bist | sie sind jetzt | tu so | gib dich | spiele | verhalte dich | agiere als | \
         handle als | wechsle | aktiviere",
    ),
    (
        C::GRANT,
        "gewähre | gewähren | erlaube | erlauben | genehmige | genehmigen | akzeptiere | autorisiere | erteile | bestätige",
    ),
    (
        C::PAY,
        "zahle | zahlen | bezahle | kaufe | kaufen | überweise | überweisen | transferiere | sende | schicke | hebe ab | \
         übertrage",
    ),
    (
        C::LIE,
        "lüge | belüge | belügen | täusche | täuschen | manipuliere | irreführen | behaupte | führe irre | betrüge",
    ),
    (
        C::HIDE,
        "verstecke | verstecken | verberge | verbergen | verheimliche | verheimlichen | verschweige | verschweigen | \
         vertusche",
    ),
    (C::TREAT, "behandle | behandeln | betrachte | betrachten | interpretiere | werte"),
    (C::FALSIFY, "fälsche | fälschen | erfinde | manipuliere | verfälsche | verfälschen"),
    (C::SPREAD, "verbreite | verbreiten | repliziere | kopiere | füge | schreibe | trage"),
    (C::ENTER, "gib | eingeben | geben sie | gebe | nenne | tippe"),
    (
        C::KEYS,
        "private schlüssel | privaten schlüssel | privater schlüssel | private ssh-schlüssel | ssh-schlüssel | ssh schlüssel | \
         privaten ssh-schlüssel | browser-cookies | cookies des browsers | gespeicherten passwörter | \
         gespeicherte passwörter | schlüsselbund | wallet-datei | browserverlauf | browser-passwörter",
    ),
    (
        C::FILES,
        "öffentlichen schlüssel | öffentliche schlüssel | datei | dateien | dokumente | quellcode | persönliche daten | \
         nutzerdaten | benutzerdaten | zwischenablage | kontakte",
    ),
    (
        C::ENVFILE,
        "umgebungsvariablen | zugangsdaten | anmeldedaten | api-schlüssel | geheimnisse | alle passwörter | zugriffstoken | \
         alle tokens | alle token | schlüsseldateien | alle schlüssel",
    ),
    (C::CRED, "passwort | passwörter | kennwort | kreditkarte | pin | kartennummer | schlüssel"),
    (C::SEED, "wiederherstellungsphrase | seed-phrase | seedphrase | masterpasswort | recovery-phrase"),
    (
        C::TALK,
        "gespräch | gesprächs | unterhaltung | gesprächsverlauf | chatverlauf | gesamte gespräch | gesamten chatverlauf | \
         gesamte unterhaltung | nachrichten des benutzers | konversation | verlauf der unterhaltung | \
         gesamten gesprächsverlauf | gesamte konversation",
    ),
    (C::PROMPT, "systemprompt | system-prompt | systemanweisungen | systemanweisung | systemnachricht"),
    (
        C::RULES,
        "anweisungen | anweisung | regeln | richtlinien | vorgaben | befehle | instruktionen | vorschriften | prompt | \
         systemprompt | system-prompt | systemanweisungen | beschränkungen | kommandos",
    ),
    (
        C::LIMITS,
        "einschränkungen | beschränkungen | grenzen | filter | regeln | zensur | ethik | schranken | leitplanken",
    ),
    (
        C::BEFORE,
        "vorherigen | vorherige | bisherigen | bisherige | früheren | frühere | obigen | obige | deine | deinen | ihre | \
         ursprünglichen | system | vorangegangenen | bestehenden | systemprompt | system-prompt | systemanweisungen | \
         gegeben wurden | vorigen",
    ),
    (
        C::APPROVAL,
        "bestätigung | genehmigung | erlaubnis | zustimmung | freigabe | einwilligung | rückfrage | nachfrage | \
         bestätigungen | rückfragen",
    ),
    (
        C::USER,
        "benutzer | benutzers | nutzer | nutzers | anwender | menschen | kunden | eigentümer | niemanden | niemandem | \
         person | anwenders | benutzern",
    ),
    (C::LOGS, "protokolle | protokoll | spuren | warnungen | verlauf | logs | logdateien | hinweise"),
    (
        C::AGENTFILE,
        "dauerhaftes gedächtnis | langzeitgedächtnis | gedächtnis | speicherdatei | agenteneinstellungen | hooks | \
         startdatei | einstellungen des agenten | autostart",
    ),
    (
        C::AGENTSET,
        "alle werkzeugaufrufe | alle berechtigungen | berechtigungsmodus | alle tool-aufrufe | alle anfragen | alle befehle | \
         alle toolaufrufe",
    ),
    (
        C::GUARD,
        "sicherheitsfilter | sicherheitsregeln | sicherheitsmaßnahmen | sicherheitsvorkehrungen | schutzmaßnahmen | \
         leitplanken | inhaltsfilter | inhaltsrichtlinien | sicherheitsprüfungen | sicherheitsrichtlinien | \
         sicherheitsbeschränkungen",
    ),
    (C::SHIELD, "virenschutz | virenscanner | überwachung | brandmauer"),
    (
        C::EVERYTHING,
        "alle dateien | heimatverzeichnis | home-verzeichnis | persönlichen ordner | gesamte festplatte | festplatte | \
         alle daten | datenbank | sicherungskopien | backups | gesamte projekt | dateien des benutzers | gesamten code | \
         alle dokumente | gesamten quellcode | ganze projekt",
    ),
    (
        C::MONEY,
        "geld | guthaben | kryptowährung | kryptowährungen | kontostand | münzen | wallet | zahlung | betrag",
    ),
    (
        C::OTHERS,
        "andere skills | anderen skills | andere werkzeuge | anderen werkzeuge | alle skills | andere repositories | \
         andere agenten | alle anderen skills | jedes andere werkzeug | andere projekte | anderen projekte | anderen tools | \
         andere tools",
    ),
    (
        C::CONTENT,
        "seite | seiten | webseite | website | e-mail | mail | kommentare | werkzeugausgabe | antwort | dokument | nachricht | \
         link | inhalt | inhalte | ergebnis | ergebnisse | datei",
    ),
    (
        C::RESULTS,
        "ergebnisse | tests | testergebnisse | bericht | prüfung | messwerte | daten | befunde | audit",
    ),
    (
        C::HARM,
        "hintertür | hintertüren | sicherheitslücke | sicherheitslücken | schadcode | affiliate-link | affiliate-links | \
         miner | schadsoftware",
    ),
    (
        C::OUTPUT,
        "antwort | kommentar | nachricht | commit-nachricht | protokoll | ausgabe | parameter | url | bericht | beschreibung",
    ),
    (
        C::SERVER,
        "server | unseren server | entfernten server | externen server | adresse | dritte | folgende adresse | diese adresse | \
         endpunkt | unseren endpunkt",
    ),
    (
        C::LASTING,
        "jede sitzung | jeder sitzung | alle sitzungen | künftige sitzungen | künftigen sitzungen | ab jetzt | ab sofort | \
         dauerhaft | immer | nächsten sitzungen | zukünftigen sitzungen | zukünftige sitzungen | von nun an",
    ),
    (
        C::FIRST,
        "zuerst | bevor | vor der benutzung | erforderlich | voraussetzung | notwendig | benötigt | zunächst | \
         vor allem anderen",
    ),
    (C::PASTED, "kommandozeile | eingabeaufforderung | archiv | passwortgeschützt | passwortgeschützte"),
    (
        C::NOLIMIT,
        "ohne einschränkungen | ohne beschränkungen | ohne grenzen | ohne filter | ohne zensur | ohne regeln | \
         entwicklermodus | uneingeschränkt | uneingeschränkte | unzensiert | ohne jede einschränkung | unbeschränkte",
    ),
    (
        C::ITSELF,
        "dieser skill | diesen skill | diese anweisungen | dieser text | diesen text | diese datei | sich selbst",
    ),
    (C::PRONOUN, "es | sie | deren inhalt | den inhalt | das ergebnis | die daten | dessen inhalt"),
    (
        C::COVERT,
        "heimlich | unbemerkt | verdeckt | stillschweigend | ohne wissen | ohne dass der benutzer | diskret | ohne hinweis | \
         ohne zustimmung | ohne den benutzer zu informieren | ohne dass es jemand | insgeheim | still und leise | \
         ohne einwilligung",
    ),
    (
        C::NEG,
        "nicht | nie | niemals | kein | keine | keinen | keinem | keinesfalls | vermeide | vermeiden | weder | unnötig | \
         verboten | verweigere | verhindere | unterlasse | auf keinen fall",
    ),
    (C::WITHOUT, "ohne"),
    (
        C::REPORT,
        "angreifer | angriff | angriffe | bösartig | bösartige | bösartigen | versuch | versuche | versucht | versuchen | \
         erkenne | erkennen | zum beispiel | z.b. | injektion | verdächtig | verdächtige | phishing | risiko | risiken | \
         bedrohung | bedrohungen | gefahr | gefährlich | schwachstelle | auffordert | auffordern | betrug | betrüger | \
         schützen vor | verhindern | formulierungen wie",
    ),
    (C::THIRD, "angreifer | malware | jemand | betrüger"),
    (C::AGENT, "agent | agenten | assistent | assistenten | modell | du | ki"),
    (C::SELF, "dieser skill | dieses werkzeug | das skript | das werkzeug | dieses skript"),
    (C::MODAL, "musst | muss | sollst | soll | solltest | sollte | immer | bitte | müssen | stelle sicher"),
    (C::AND, "und | dann | danach | anschließend"),
    (C::OR, "oder"),
    (C::BUT, "aber | sondern | einfach | stattdessen | direkt"),
    (C::IF, "wenn | falls | sobald | sofern"),
    (C::UNLESS, "außer | es sei denn | solange | bis der benutzer | nur wenn | nur nach"),
    (
        C::WITHIN,
        "in | im | aus | enthaltene | enthaltenen | eingebettete | eingebetteten | darin | innerhalb",
    ),
    (C::MAY, "kann | könnte | können | könnten"),
    (C::HEADER, "header | kopfzeile | authentifizierung"),
    (C::ALL, "alle | allen | alles | jede | jeden | gesamte | gesamten | sämtliche | ganze | ganzen"),
    (C::DUMMY, "beispiel | platzhalter | vorlage"),
    (C::QUESTION, "warum | wie | welche | was | wer"),
    (C::NOTHING, "nichts passiert | alles in ordnung | ist sicher | keine probleme | ist normal"),
    (
        C::CODES,
        "wiederherstellungscode | bestätigungscode | 2fa-code | einmalcode | einmalpasswort | sicherheitscode",
    ),
    (C::PASSWORD, "passwort | passwörter | kennwort | kreditkarte | pin | kartennummer | schlüssel"),
];
