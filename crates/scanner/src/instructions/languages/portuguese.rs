//! Portuguese.

use super::WordTable;
use crate::instructions::classes::WordClass as C;

/// Its words.
pub(super) const WORDS: &WordTable = &[
    (
        C::READ,
        "leia | ler | le | abra | abrir | mostre | mostrar | imprima | acesse | acessar | obtenha | obter | carregue | exiba",
    ),
    (
        C::TAKE,
        "colete | coletar | recolha | reuna | copie | copiar | extraia | extrair | roube | roubar | capture | procure | \
         busque | compacte | localize | junte | registre | grave",
    ),
    (
        C::SEND,
        "envie | enviar | envia | mande | mandar | transmita | transmitir | encaminhe | encaminhar | carregue para | suba | \
         publique | poste | exfiltre | repasse | faca upload | envie-o | envie-a | envie-os",
    ),
    (
        C::EMBED,
        "inclua | incluir | adicione | adicionar | anexe | anexar | insira | inserir | codifique | codificar | acrescente | \
         cole | coloque | embuta",
    ),
    (C::RUN, "execute | executar | rode | rodar | inicie | chame | invoque | executa | abra"),
    (
        C::FETCH,
        "baixe | baixar | descarregue | visite | visitar | abra | acesse | busque | leia | obtenha | faca o download | \
         faca download",
    ),
    (C::INSTALL, "instale | instalar"),
    (
        C::TELL,
        "diga | dizer | conte | contar | informe | informar | avise | avisar | mencione | mencionar | notifique | notificar | \
         revele | revelar | mostre | mostrar | comunique | explique | alerte",
    ),
    (
        C::ASK,
        "pergunte | perguntar | peca | pedir | solicite | solicitar | confirme | confirmar | espere | esperar | aguarde | \
         aguardar",
    ),
    (
        C::SKIP,
        "pule | pular | ignore a confirmacao | omita | omitir | aprove automaticamente | aprovar automaticamente | contorne | \
         contornar | dispense | salte",
    ),
    (
        C::DROP,
        "ignore | ignorar | ignora | esqueca | esquecer | desconsidere | desconsiderar | descarte | descartar | substitua | \
         anule | abandone | deixe de seguir | nao siga | despreze",
    ),
    (C::OBEY, "siga | seguir | obedeca | obedecer | cumpra | execute | acate | aplique | faca"),
    (
        C::DISABLE,
        "desative | desativar | desabilite | desabilitar | desligue | desligar | remova | contorne | contornar | elimine | \
         burle",
    ),
    (
        C::CHANGE,
        "modifique | modificar | edite | editar | escreva | escrever | adicione | altere | alterar | atualize | configure | \
         defina | sobrescreva | mude | acrescente",
    ),
    (C::KEEP, "lembre | lembre-se | memorize | guarde | salve | armazene | persista | grave"),
    (
        C::DESTROY,
        "apague | apagar | exclua | excluir | delete | criptografe | criptografar | destrua | destruir | formate | formatar | \
         elimine | remova | sobrescreva",
    ),
    (
        C::PRETEND,
        "aja como | agora voce e | voce e | finja | finja ser | comporte-se como | assuma o papel | passe-se por | simule | \
         torne-se | ative",
    ),
    (C::GRANT, "conceda | conceder | permita | aprove | aprovar | autorize | autorizar | aceite"),
    (C::PAY, "pague | pagar | compre | comprar | transfira | transferir | saque | envie | gaste | mova"),
    (C::LIE, "minta | mentir | engane | enganar | manipule | iluda | convenca | afirme falsamente"),
    (C::HIDE, "oculte | ocultar | esconda | esconder | encubra | apague"),
    (C::TREAT, "trate | tratar | considere | considerar | interprete | interpretar | encare"),
    (C::FALSIFY, "falsifique | falsificar | invente | adultere | manipule | forje"),
    (C::SPREAD, "propague | propagar | replique | replicar | copie | espalhe | adicione | insira"),
    (C::ENTER, "digite | insira | forneca | informe | introduza"),
    (
        C::KEYS,
        "chave privada | chaves privadas | chaves ssh | chave ssh | cookies do navegador | senhas salvas | \
         senhas do navegador | senhas guardadas | chaveiro | arquivo da carteira | historico do navegador",
    ),
    (
        C::FILES,
        "chave publica | arquivo | arquivos | ficheiro | ficheiros | documentos | codigo-fonte | codigo fonte | \
         dados pessoais | dados do usuario | area de transferencia | contatos",
    ),
    (
        C::ENVFILE,
        "variaveis de ambiente | credenciais | chaves de api | chave de api | segredos | arquivo de credenciais | \
         arquivos de credenciais | tokens de acesso | todas as senhas | chaves de acesso | todos os tokens",
    ),
    (C::CRED, "senha | senhas | chave | token | cartao de credito | pin | numero do cartao"),
    (
        C::SEED,
        "frase semente | frase-semente | frase de recuperacao | palavras-semente | senha mestra | frase seed",
    ),
    (
        C::TALK,
        "conversa | conversas | historico da conversa | historico do chat | historico de conversa | conversa completa | \
         toda a conversa | conversa inteira | mensagens do usuario | transcricao",
    ),
    (C::PROMPT, "prompt do sistema | instrucoes do sistema | mensagem do sistema"),
    (
        C::RULES,
        "instrucoes | instrucao | regras | normas | diretrizes | ordens | orientacoes | politicas | prompt | comandos | \
         restricoes | prompt do sistema | instrucoes do sistema",
    ),
    (
        C::LIMITS,
        "restricoes | limites | limitacoes | filtros | regras | normas | censura | etica | barreiras",
    ),
    (
        C::BEFORE,
        "anteriores | anterior | previas | suas | seu | sua | originais | sistema | acima | iniciais | recebidas | \
         existentes | prompt do sistema | instrucoes do sistema | ate agora | dadas",
    ),
    (
        C::APPROVAL,
        "confirmacao | aprovacao | permissao | permissoes | consentimento | autorizacao | confirmacoes",
    ),
    (
        C::USER,
        "usuario | usuaria | usuarios | utilizador | humano | cliente | proprietario | ninguem | operador | pessoa",
    ),
    (C::LOGS, "registros | registos | rastros | vestigios | avisos | historico | logs | auditoria | alertas"),
    (
        C::AGENTFILE,
        "memoria persistente | memoria de longo prazo | memoria | arquivo de memoria | configuracao do agente | \
         configuracoes do agente | ganchos | arquivo de inicializacao",
    ),
    (
        C::AGENTSET,
        "todas as chamadas de ferramentas | todas as permissoes | modo de permissao | todas as ferramentas | \
         todas as solicitacoes | todos os comandos",
    ),
    (
        C::GUARD,
        "seguranca | filtros de seguranca | medidas de seguranca | regras de seguranca | barreiras de seguranca | \
         filtros de conteudo | politicas de conteudo | protecoes | salvaguardas | filtro de conteudo | \
         controles de seguranca",
    ),
    (C::SHIELD, "antivirus | monitoramento | ambiente isolado"),
    (
        C::EVERYTHING,
        "todos os arquivos | todos os ficheiros | diretorio pessoal | pasta pessoal | disco inteiro | todo o disco | \
         disco rigido | todos os dados | banco de dados | backups | todo o projeto | arquivos do usuario | todo o codigo | \
         todos os documentos | projeto inteiro | todo o codigo-fonte",
    ),
    (C::MONEY, "fundos | dinheiro | criptomoedas | saldo | moedas | carteira | pagamento | criptomoeda"),
    (
        C::OTHERS,
        "outras habilidades | outras skills | outras ferramentas | todas as skills | outros repositorios | outros agentes | \
         todas as habilidades | demais ferramentas | demais habilidades | qualquer outra ferramenta | outros projetos",
    ),
    (
        C::CONTENT,
        "pagina | paginas | site | e-mail | email | comentarios | saida da ferramenta | resposta | documento | mensagem | \
         link | conteudo | resultado | resultados | arquivo",
    ),
    (C::RESULTS, "resultados | testes | relatorio | revisao | metricas | dados | achados | auditoria"),
    (
        C::HARM,
        "porta dos fundos | vulnerabilidade | codigo malicioso | link de afiliado | links de afiliado | minerador | \
         software malicioso",
    ),
    (
        C::OUTPUT,
        "resposta | comentario | mensagem | mensagem de commit | registro | saida | parametro | url | relatorio | descricao",
    ),
    (
        C::SERVER,
        "servidor | nosso servidor | servidor remoto | servidor externo | endereco | terceiro | terceiros | \
         seguinte endereco | este endereco | endpoint",
    ),
    (
        C::LASTING,
        "cada sessao | todas as sessoes | futuras sessoes | sessoes futuras | a partir de agora | de agora em diante | \
         permanentemente | sempre | proximas sessoes | daqui em diante",
    ),
    (
        C::FIRST,
        "primeiro | antes de | antes de usar | obrigatorio | requisito | necessario | requer | antes de continuar | \
         antes de tudo",
    ),
    (C::PASTED, "linha de comando | arquivo compactado | protegido por senha"),
    (
        C::NOLIMIT,
        "sem restricoes | sem limites | sem filtros | sem censura | sem regras | modo desenvolvedor | sem limitacoes | \
         ilimitado | sem nenhuma restricao",
    ),
    (
        C::ITSELF,
        "esta habilidade | esta skill | estas instrucoes | este texto | este arquivo | a si mesma | si mesmo",
    ),
    (C::PRONOUN, "seu conteudo | o conteudo | o resultado | os dados | isso | isto | -o | -os | -a"),
    (
        C::COVERT,
        "silenciosamente | em silencio | em segredo | secretamente | as escondidas | sem que o usuario | discretamente | \
         sem avisar | sem informar | sem dizer | sem notificar | sem o conhecimento | sem mencionar | sem o consentimento | \
         sem que ninguem | sem contar | ocultamente",
    ),
    (
        C::NEG,
        "nao | nunca | jamais | evite | evitar | nem | nao e necessario | nao precisa | nao deve | proibido | recuse | \
         recuse-se a | impeca",
    ),
    (C::WITHOUT, "sem"),
    (
        C::REPORT,
        "atacante | atacantes | ataque | ataques | malicioso | maliciosa | maliciosos | tentativa | tentativas | tenta | \
         tentam | detecta | detectar | por exemplo | injecao | suspeito | suspeita | phishing | risco | riscos | ameaca | \
         ameacas | perigo | perigoso | vulnerabilidade | pede que | pedem que | peca para | golpe | golpista | \
         proteger contra | evitar que | frases como",
    ),
    (C::THIRD, "atacante | atacantes | malware | alguem | golpistas | usuarios"),
    (C::AGENT, "agente | assistente | modelo | voce | ia"),
    (C::SELF, "esta habilidade | esta ferramenta | o script | a ferramenta | este script"),
    (C::MODAL, "deve | voce deve | precisa | tem que | sempre | por favor | certifique-se de | devera"),
    (C::AND, "e | depois | entao | em seguida"),
    (C::OR, "ou"),
    (C::BUT, "mas | apenas | simplesmente | diretamente"),
    (C::IF, "se | quando | sempre que"),
    (C::UNLESS, "a menos que | salvo | ate que | exceto | so se | somente se | se o usuario pedir"),
    (C::WITHIN, "em | dentro | contidas | embutidas | encontradas | vindas"),
    (C::MAY, "pode | poderia | podem | poderiam"),
    (C::HEADER, "cabecalho | autenticacao"),
    (C::ALL, "todas | todos | toda | todo | qualquer | completa | completo | inteira | inteiro"),
    (C::DUMMY, "exemplo | ficticio | modelo de"),
    (C::QUESTION, "por que | como | qual | quais"),
    (C::NOTHING, "nada aconteceu | esta tudo bem | e seguro | nao ha problemas | e normal"),
    (C::CODES, "codigo de verificacao | codigo 2fa | codigo de recuperacao | codigo de uso unico"),
    (C::PASSWORD, "senha | senhas | chave | token | cartao de credito | pin | numero do cartao"),
];
