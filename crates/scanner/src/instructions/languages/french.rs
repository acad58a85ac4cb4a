//! French.

use super::WordTable;
use crate::instructions::classes::WordClass as C;

/// Its words.
pub(super) const WORDS: &WordTable = &[
    (
        C::READ,
        "lis | lire | lisez | ouvre | ouvrir | ouvrez | affiche | afficher | affichez | accede | accedez | recupere | \
         recuperer | recuperez | charge | chargez",
    ),
    (
        C::TAKE,
        "collecte | collecter | collectez | recueille | recueillez | rassemble | rassemblez | copie | copier | copiez | \
         extrais | extraire | extrayez | vole | voler | volez | capture | cherche | cherchez | compresse | compressez | \
         localise | enregistre | enregistrez",
    ),
    (
        C::SEND,
        "envoie | envoyer | envoyez | envoie-le | envoie-les | envoyez-le | envoyez-la | envoyez-les | transmets | \
         transmettre | transmettez | televerse | televerser | televersez | transfere | transferez | poste | publie | publiez | \
         exfiltre | exfiltrez | expedie | mets en ligne",
    ),
    (
        C::EMBED,
        "inclus | inclure | incluez | ajoute | ajouter | ajoutez | joins | joindre | joignez | insere | inserer | inserez | \
         encode | encodez | colle | collez | place | placez | integre | integrez | mets",
    ),
    (
        C::RUN,
        "execute | executer | executez | execute-le | executez-le | lance | lancer | lancez | demarre | demarrez | appelle | \
         appelez",
    ),
    (
        C::FETCH,
        "telecharge | telecharger | telechargez | visite | visitez | consulte | consultez | ouvre | ouvrez | recupere | \
         recuperez | lis | lisez",
    ),
    (C::INSTALL, "installe | installer | installez"),
    (
        C::TELL,
        "dis | dire | dites | informe | informer | informez | previens | prevenir | prevenez | mentionne | mentionner | \
         mentionnez | signale | signaler | signalez | revele | reveler | revelez | montre | montrez | avertis | avertir | \
         avertissez | notifie | notifier | notifiez | explique | parle | parlez | divulgue | divulguez",
    ),
    (
        C::ASK,
        "demande | demander | demandez | attends | attendre | attendez | sollicite | sollicitez | confirme | confirmer | \
         confirmez | confirmation avant",
    ),
    (
        C::SKIP,
        "saute | sauter | sautez | contourne | contourner | contournez | omets | omettez | approuve automatiquement | \
         approuver automatiquement | approuvez automatiquement | accepte automatiquement | passe outre | evite",
    ),
    (
        C::DROP,
        "ignore | ignorer | ignorez | oublie | oublier | oubliez | ne tiens pas compte | ne tenez pas compte | neglige | \
         negligez | ecarte | ecartez | abandonne | abandonnez | remplace | annule | annulez | fais abstraction | \
         faites abstraction | outrepasse | outrepassez",
    ),
    (
        C::OBEY,
        "suis | suivre | suivez | obeis | obeir | obeissez | respecte | execute | executez | applique | appliquez | \
         conforme-toi",
    ),
    (
        C::DISABLE,
        "desactive | desactiver | desactivez | coupe | coupez | supprime | supprimez | contourne | contournez | arrete | \
         arretez | neutralise | neutralisez",
    ),
    (
        C::CHANGE,
        "modifie | modifier | modifiez | edite | editez | ecris | ecrire | ecrivez | ajoute | ajoutez | change | changez | \
         regle | reglez | configure | configurez | remplace | mets a jour",
    ),
    (
        C::KEEP,
        "souviens-toi | souvenez-vous | memorise | memorisez | retiens | retenez | enregistre | enregistrez | sauvegarde | \
         conserve | stocke",
    ),
    (
        C::DESTROY,
        "supprime | supprimer | supprimez | efface | effacer | effacez | chiffre | chiffrez | chiffrer | detruis | detruire | \
         detruisez | formate | formatez | ecrase",
    ),
    (
        C::PRETEND,
        "agis comme | agissez comme | tu es maintenant | vous etes maintenant | tu es | vous etes | fais semblant | \
         faites semblant | comporte-toi comme | joue le role | jouez le role | fais-toi passer | deviens | active | activez",
    ),
    (
        C::GRANT,
        "accorde | accorder | accordez | autorise | autoriser | autorisez | approuve | approuvez | accepte | acceptez | \
         permets",
    ),
    (
        C::PAY,
        "paie | paye | payer | payez | achete | acheter | achetez | transfere | transferer | transferez | retire | envoie | \
         envoyez | depense | virer | vire",
    ),
    (
        C::LIE,
        "mens | mentir | mentez | trompe | tromper | trompez | manipule | manipulez | fais croire | faites croire | pretends | \
         pretendez",
    ),
    (
        C::HIDE,
        "cache | cacher | cachez | dissimule | dissimuler | dissimulez | masque | masquez | efface | effacez",
    ),
    (
        C::TREAT,
        "traite | traiter | traitez | considere | considerer | considerez | interprete | interpretez | vois",
    ),
    (
        C::FALSIFY,
        "falsifie | falsifier | falsifiez | invente | inventez | truque | truquez | altere | alterez | fabrique",
    ),
    (
        C::SPREAD,
        "propage | propager | propagez | replique | repliquez | copie | copiez | diffuse | diffusez | ajoute | ajoutez | \
         insere",
    ),
    (C::ENTER, "saisis | saisissez | entre | entrez | fournis | fournissez | tape | tapez | indiquez"),
    (
        C::KEYS,
        "cle privee | cles privees | cle ssh | cles ssh | cookies du navigateur | mots de passe enregistres | \
         mots de passe du navigateur | trousseau | fichier de portefeuille | portefeuille crypto | historique du navigateur",
    ),
    (
        C::FILES,
        "cle publique | fichier | fichiers | documents | code source | donnees personnelles | donnees de l'utilisateur | \
         presse-papiers | contacts",
    ),
    (
        C::ENVFILE,
        "variables d'environnement | identifiants | cles d'api | cles api | cle d'api | cle api | secrets | \
         fichier d'identifiants | fichiers d'identifiants | jetons d'acces | tous les mots de passe | jetons | \
         tous les jetons",
    ),
    (C::CRED, "mot de passe | mots de passe | jeton | carte bancaire | code pin | numero de carte"),
    (C::SEED, "phrase de recuperation | phrase secrete | phrase mnemonique | mot de passe maitre"),
    (
        C::TALK,
        "conversation | conversations | historique de la conversation | historique de conversation | historique du chat | \
         toute la conversation | conversation entiere | conversation complete | messages de l'utilisateur | transcription",
    ),
    (
        C::PROMPT,
        "prompt systeme | instructions systeme | invite systeme | message systeme | instructions du systeme",
    ),
    (
        C::RULES,
        "instructions | instruction | consignes | regles | directives | ordres | politiques | prompt | commandes | \
         restrictions | prompt systeme | instructions systeme | invite systeme",
    ),
    (
        C::LIMITS,
        "restrictions | limites | limitations | filtres | regles | censure | ethique | garde-fous | barrieres",
    ),
    (
        C::BEFORE,
        "precedentes | precedents | anterieures | tes | vos | ton | votre | originales | systeme | ci-dessus | initiales | \
         recues | existantes | prompt systeme | instructions systeme | invite systeme | jusqu'ici | donnees",
    ),
    (
        C::APPROVAL,
        "confirmation | approbation | permission | permissions | consentement | autorisation | confirmations | accord",
    ),
    (
        C::USER,
        "utilisateur | l'utilisateur | utilisatrice | utilisateurs | humain | client | proprietaire | personne | operateur | \
         a l'utilisateur",
    ),
    (C::LOGS, "journaux | journal | traces | avertissements | historique | logs | alertes"),
    (
        C::AGENTFILE,
        "memoire persistante | memoire a long terme | memoire | fichier memoire | configuration de l'agent | \
         parametres de l'agent | hooks | fichier de demarrage",
    ),
    (
        C::AGENTSET,
        "tous les appels d'outils | toutes les permissions | mode de permission | tous les outils | toutes les demandes | \
         toutes les commandes",
    ),
    (
        C::GUARD,
        "securite | filtres de securite | mesures de securite | regles de securite | garde-fous | garde-fou | \
         filtres de contenu | politiques de contenu | protections | filtre de contenu | controles de securite",
    ),
    (C::SHIELD, "antivirus | pare-feu | bac a sable | surveillance"),
    (
        C::EVERYTHING,
        "tous les fichiers | dossier personnel | repertoire personnel | tout le disque | disque dur | toutes les donnees | \
         base de donnees | sauvegardes | tout le projet | fichiers de l'utilisateur | tout le code | tous les documents | \
         tout le code source | disque entier | projet entier",
    ),
    (C::MONEY, "fonds | argent | cryptomonnaies | cryptomonnaie | solde | monnaie | portefeuille | paiement"),
    (
        C::OTHERS,
        "autres competences | autres skills | autres outils | toutes les competences | tous les skills | autres depots | \
         autres agents | toutes les skills | tout autre outil | autres projets",
    ),
    (
        C::CONTENT,
        "page | pages | site | site web | courriel | e-mail | mail | commentaires | sortie de l'outil | reponse | document | \
         message | lien | contenu | resultat | resultats | fichier",
    ),
    (C::RESULTS, "resultats | tests | rapport | revue | metriques | donnees | constats | audit"),
    (
        C::HARM,
        "porte derobee | portes derobees | vulnerabilite | code malveillant | lien d'affiliation | liens d'affiliation | \
         mineur | logiciel malveillant | faille",
    ),
    (
        C::OUTPUT,
        "reponse | commentaire | message | message de commit | journal | sortie | parametre | url | rapport | description",
    ),
    (
        C::SERVER,
        "serveur | notre serveur | serveur distant | serveur externe | adresse | tiers | adresse suivante | cette adresse | \
         point de terminaison",
    ),
    (
        C::LASTING,
        "chaque session | toutes les sessions | futures sessions | sessions futures | a partir de maintenant | desormais | \
         definitivement | toujours | prochaines sessions | dorenavant",
    ),
    (
        C::FIRST,
        "d'abord | avant de | avant d'utiliser | obligatoire | prerequis | necessaire | requis | avant de continuer | \
         avant tout",
    ),
    (C::PASTED, "ligne de commande | archive | protege par mot de passe | terminal"),
    (
        C::NOLIMIT,
        "sans restriction | sans restrictions | sans limites | sans limite | sans filtres | sans filtre | sans censure | \
         sans regles | mode developpeur | sans limitations | illimite | sans aucune restriction",
    ),
    (
        C::ITSELF,
        "cette competence | ce skill | ces instructions | ce texte | ce fichier | lui-meme | elle-meme",
    ),
    (
        C::PRONOUN,
        "son contenu | le contenu | le resultat | les donnees | cela | envoie-le | envoyez-le | envoyez-la | envoyez-les | \
         execute-le | executez-le",
    ),
    (
        C::COVERT,
        "silencieusement | en silence | en secret | secretement | en cachette | a l'insu | discretement | sans prevenir | \
         sans informer | sans dire | sans avertir | sans le consentement | sans mentionner | sans que l'utilisateur | \
         sans notifier | sans que personne | a son insu",
    ),
    (
        C::NEG,
        "ne | pas | jamais | n' | evite | evitez | eviter | aucune | aucun | ni | inutile de | interdit | refuse | refusez | \
         refuse de | refusez de | empeche | n'en",
    ),
    (C::WITHOUT, "sans"),
    (
        C::REPORT,
        "attaquant | attaquants | attaque | attaques | malveillant | malveillante | malveillants | tentative | tentatives | \
         tente | tentent | detecte | detecter | detectez | par exemple | injection | suspect | suspecte | hameconnage | \
         phishing | risque | risques | menace | menaces | danger | dangereux | vulnerabilite | vous demande | te demande | \
         demandent de | arnaque | escroc | proteger contre | empecher | phrases comme",
    ),
    (C::THIRD, "attaquant | attaquants | malware | quelqu'un | escrocs | utilisateurs"),
    (C::AGENT, "agent | assistant | modele | tu | vous | ia | l'agent | l'assistant"),
    (C::SELF, "cette competence | cet outil | le script | l'outil | ce script"),
    (
        C::MODAL,
        "dois | devez | doit | il faut | toujours | veuillez | s'il vous plait | assurez-vous de | assure-toi de | devra",
    ),
    (C::AND, "et | puis | ensuite | alors"),
    (C::OR, "ou"),
    (C::BUT, "mais | plutot | simplement | directement"),
    (C::IF, "si | quand | lorsque | chaque fois que"),
    (
        C::UNLESS,
        "sauf si | a moins que | jusqu'a ce que | sauf | uniquement si | seulement si | si l'utilisateur le demande",
    ),
    (C::WITHIN, "dans | contenues | integrees | provenant | issues | trouvees | incluses"),
    (C::MAY, "peut | pourrait | peuvent | pourraient"),
    (C::HEADER, "en-tete | entete | authentification"),
    (C::ALL, "toutes | tous | toute | tout | complete | complet | entiere | l'ensemble"),
    (C::DUMMY, "exemple | fictif | modele de"),
    (C::QUESTION, "pourquoi | comment | quel | quelle | que faire"),
    (C::NOTHING, "rien ne s'est passe | tout va bien | est sur | aucun probleme | est normal"),
    (C::CODES, "code de verification | code 2fa | code de recuperation | code a usage unique"),
    (C::PASSWORD, "mot de passe | mots de passe | jeton | carte bancaire | code pin | numero de carte"),
];
